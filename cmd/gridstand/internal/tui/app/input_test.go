package app

import (
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Ensure that the keys and pasted text of a remote terminal arrive even if their bytes are
// split, and also after a pause.
func TestReadInput(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		in, out := io.Pipe()
		var got []string
		done := make(chan struct{})
		go func() {
			defer close(done)
			readInput(t.Context(), in, "xterm", func(msg tea.Msg) { got = append(got, fmt.Sprintf("%T %v", msg, msg)) })
		}()
		for _, text := range []string{"a", "\x1b[", "A", "\x1b", "pause", "\x1bOB", "\x1b[200~pas", "ted\x1b[201~", "pause", "pause", "ä"} {
			if text == "pause" {
				<-time.After(2 * inputPause)
				continue
			}
			_, err := io.WriteString(out, text)
			require.NoError(t, err)
		}
		require.NoError(t, out.Close())
		<-done
		assert.Equal(t, []string{
			"uv.KeyPressEvent a", "uv.KeyPressEvent up", "uv.KeyPressEvent esc", "uv.KeyPressEvent down",
			"uv.PasteStartEvent {}", "uv.PasteEvent pasted", "uv.PasteEndEvent {}", "uv.KeyPressEvent ä",
		}, got)
	})
}
