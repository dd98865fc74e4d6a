package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/stretchr/testify/assert"
)

// typed returns the events of a remote terminal that sends the texts, with a pause for each empty one.
func typed(t *testing.T, texts ...string) (events []tea.Msg) {
	t.Helper()
	keys := make(chan []byte)
	done := make(chan struct{})
	go func() {
		defer close(done)
		readInput(t.Context(), keys, "xterm", func(msg tea.Msg) { events = append(events, msg) })
	}()
	for _, text := range texts {
		if text == "" {
			<-time.After(2 * inputPause)
			continue
		}
		for chunk := range slices.Chunk([]byte(text), 1<<10) {
			keys <- chunk
		}
	}
	close(keys)
	<-done
	return events
}

// Ensure that the keys and pasted text of a remote terminal arrive even if their bytes are
// split, and also after a pause.
func TestReadInput(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got []string
		for _, msg := range typed(t, "a", "\x1b[", "A", "\x1b", "", "\x1bOB", "\x1b[200~pas", "ted\x1b[201~", "", "", "ä") {
			got = append(got, fmt.Sprintf("%T %v", msg, msg))
		}
		assert.Equal(t, []string{
			"uv.KeyPressEvent a", "uv.KeyPressEvent up", "uv.KeyPressEvent esc", "uv.KeyPressEvent down",
			"uv.PasteStartEvent {}", "uv.PasteEvent pasted", "uv.PasteEndEvent {}", "uv.KeyPressEvent ä",
		}, got)
	})
}

// Ensure that a paste of 64 KiB arrives, that a remote terminal cannot make the parser collect more
// than maxInput, and that the next key after a pause arrives.
func TestReadInput_Long(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		texts  []string
		length int
		pasted int
	}{
		"paste":           {[]string{"\x1b[200~"}, 64 << 10, 64 << 10},
		"long paste":      {[]string{"\x1b[200~"}, 2 * maxInput, 0},
		"many parameters": {[]string{"\x1b[1;" + strings.Repeat("1;", 50)}, 100, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			events := typed(t, append(tt.texts, strings.Repeat("a", tt.length)+"\x1b[201~", "", "z")...)
			pasted := 0
			for _, msg := range events {
				if paste, ok := msg.(uv.PasteEvent); ok {
					pasted += len(paste.Content)
				}
			}
			assert.LessOrEqual(t, pasted, maxInput, name)
			if tt.pasted > 0 {
				assert.Equal(t, tt.pasted, pasted, name)
			}
			assert.Equal(t, "z", fmt.Sprint(events[len(events)-1]), name)
		})
	}
}
