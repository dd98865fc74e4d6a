package app

import (
	"context"
	"errors"
	"fmt"
	"io"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// ErrInterrupted is returned after ctrl-c, or if the context ended.
var ErrInterrupted = errors.New("interrupted")

// Terminal is where the program is shown.
type Terminal struct {
	// In and Out are the terminal. A nil In is the terminal of the process.
	In  io.Reader
	Out io.Writer
	// Width and Height are the size if Out is not a terminal of this process.
	Width, Height int
	// Resized is set if the terminal is remote, and brings its size after each change. Its
	// color depth follows from Env alone, it is drawn less often, and ctrl-z, which would
	// stop this process, does nothing.
	Resized <-chan tea.WindowSizeMsg
	// Env is the environment, from which the color depth is detected.
	Env []string
	// Plain turns colors off.
	Plain bool
}

// remoteFPS is the highest number of frames in a second on a remote terminal.
const remoteFPS = 20

// Run shows the program until the user leaves it, ctx ends, or it fails. Then the
// terminal is as it was before, with the last page's farewell. It returns ErrInterrupted
// if ctx ended or the user interrupted the program.
func Run(ctx context.Context, m *Model, t Terminal) error {
	options := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithoutSignalHandler(),
		tea.WithOutput(t.Out), tea.WithEnvironment(t.Env), tea.WithWindowSize(t.Width, t.Height),
	}
	if t.In != nil {
		options = append(options, tea.WithInput(t.In))
	}
	if t.Plain {
		options = append(options, tea.WithColorProfile(colorprofile.ASCII))
	}
	if t.Resized != nil {
		options = append(options, tea.WithFPS(remoteFPS), tea.WithFilter(withoutSuspend))
		if !t.Plain {
			options = append(options, tea.WithColorProfile(colorprofile.Env(t.Env)))
		}
	}
	program := tea.NewProgram(m, options...)
	ended := make(chan struct{})
	resizing := make(chan struct{})
	go func() {
		defer close(resizing)
		for {
			select {
			case <-ended:
				return
			case size, ok := <-t.Resized:
				if !ok {
					return
				}
				program.Send(size)
			}
		}
	}()
	_, err := program.Run()
	close(ended)
	<-resizing
	m.Close()
	if errors.Is(err, tea.ErrProgramPanic) {
		return err
	}
	if text := m.farewell(); text != "" {
		if _, err := fmt.Fprintln(t.Out, text); err != nil {
			return fmt.Errorf("terminal: %w", err)
		}
	}
	switch {
	case m.interrupted || ctx.Err() != nil:
		return ErrInterrupted
	case m.err != nil:
		return m.err
	default:
		return err
	}
}

// withoutSuspend drops the message that would stop this process.
func withoutSuspend(_ tea.Model, msg tea.Msg) tea.Msg {
	if _, ok := msg.(tea.SuspendMsg); ok {
		return nil
	}
	return msg
}
