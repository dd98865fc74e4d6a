package app

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
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

// Ensure that a remote terminal cannot make the parser collect more than maxInput, whatever bytes
// precede the text, and that the next key after a pause arrives.
func TestReadInput_Long(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	text := strings.Repeat("a", 4*maxInput)
	for _, begin := range []string{"\x1b[200~", "\xe9\x1b[200~", "\x1bP|\x1b[200~\x18", "\x1b]0;", "\x1b_G", "\x1b[1;" + strings.Repeat("1;", 2*maxInput)} {
		synctest.Test(t, func(t *testing.T) {
			in, out := io.Pipe()
			var got []tea.Msg
			done := make(chan struct{})
			go func() {
				defer close(done)
				readInput(t.Context(), in, "xterm", func(msg tea.Msg) { got = append(got, msg) })
			}()
			for part := range strings.SplitSeq(begin, "|") {
				_, err := io.WriteString(out, part)
				require.NoError(t, err)
				<-time.After(time.Second / 10)
			}
			_, err := io.WriteString(out, text+"\x1b[201~")
			require.NoError(t, err)
			<-time.After(2 * ignoredPause)
			_, err = io.WriteString(out, "z")
			require.NoError(t, err)
			require.NoError(t, out.Close())
			<-done
			for _, msg := range got {
				assert.LessOrEqual(t, len(fmt.Sprint(msg)), 2*maxInput, "%.10q", begin)
			}
			assert.Equal(t, "z", fmt.Sprint(got[len(got)-1]), "%.10q", begin)
		})
	}
}

// Ensure that a paste of 64 KiB arrives, and any number of keys.
func TestReadInput_Much(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		in, out := io.Pipe()
		pasted, keys := 0, 0
		done := make(chan struct{})
		go func() {
			defer close(done)
			readInput(t.Context(), in, "xterm", func(msg tea.Msg) {
				switch msg := msg.(type) {
				case uv.PasteEvent:
					pasted = len(msg.Content)
				case uv.KeyPressEvent:
					keys++
				}
			})
		}()
		text := strings.Repeat("a", 64<<10)
		_, err := io.WriteString(out, text+"\x1b[200~"+text+"\x1b[201~"+text)
		require.NoError(t, err)
		require.NoError(t, out.Close())
		<-done
		assert.Equal(t, len(text), pasted)
		assert.Equal(t, 2*len(text), keys)
	})
}
