package tui

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// screenful is an output that a test looks at while it is written to.
type screenful struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (s *screenful) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.Write(b)
}

func (s *screenful) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.String()
}

// broken is a screen that panics at a key.
type broken struct{ *Play }

func (b broken) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, ok := msg.(tea.KeyPressMsg); ok {
		panic("broken")
	}
	_, cmd := b.Play.Update(msg)
	return b, cmd
}

// TestRun leaves the terminal as it was, on every way out.
func TestRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		typed    string
		cancel   bool
		breaks   bool
		err      error
		farewell bool
	}{
		"left":        {typed: "q", farewell: true},
		"interrupted": {typed: "\x03", err: ErrInterrupted, farewell: true},
		"a signal":    {cancel: true, err: ErrInterrupted, farewell: true},
		"a panic":     {typed: "w", breaks: true, err: tea.ErrProgramPanic},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s, _ := asked()
			var screen Screen = NewPlay(ctx, s, PlayConfig{Game: someGame(someBoard(4, 4))})
			if c.breaks {
				screen = broken{screen.(*Play)}
			}
			keys, keyboard := io.Pipe()
			defer keyboard.Close()
			var out screenful
			done := make(chan error, 1)
			go func() {
				done <- Run(ctx, screen, Options{In: keys, Out: &out, Env: []string{"TERM=xterm-256color"}})
			}()
			require.Eventually(t, func() bool { return strings.Contains(out.String(), ansi.SetModeAltScreenSaveCursor) },
				limit, time.Millisecond)
			if c.cancel {
				cancel()
			}
			if c.typed != "" {
				_, err := io.WriteString(keyboard, c.typed)
				require.NoError(t, err)
			}
			select {
			case err := <-done:
				assert.ErrorIs(t, err, c.err)
			case <-time.After(limit):
				require.Fail(t, "the screen did not end")
			}
			_, after, left := strings.Cut(out.String(), ansi.ResetModeAltScreenSaveCursor)
			assert.True(t, left, "the terminal's own screen is not back")
			assert.Contains(t, after, ansi.ShowCursor)
			assert.Equal(t, c.farewell, strings.Contains(after, "ada left a classic game"))
		})
	}
}
