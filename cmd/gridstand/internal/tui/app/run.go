package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
)

// ErrInterrupted is returned after ctrl-c, or if the context was canceled.
var ErrInterrupted = errors.New("interrupted")

// Terminal is the terminal that the program runs in.
type Terminal struct {
	// In and Out are the terminal's input and output. If In is nil, the program reads from
	// the process's terminal.
	In  io.Reader
	Out io.Writer
	// Width and Height are the size of the terminal if Out is not a terminal of this
	// process.
	Width, Height int
	// Resized is set for a remote terminal and delivers its size after each change. For a
	// remote terminal, In is required, the color depth is detected from Env alone, the
	// frame rate is limited to remoteFPS, and ctrl-z is ignored because it would stop this
	// process.
	Resized <-chan tea.WindowSizeMsg
	// Env has the environment variables used to detect the color depth.
	Env []string
	// Plain turns colors off.
	Plain bool
}

// remoteFPS is the maximum number of frames per second on a remote terminal.
const remoteFPS = 20

// Run runs the program until the user quits, ctx is done or the program fails. It then
// restores the terminal and prints the last page's farewell. It returns ErrInterrupted if
// ctx is done or the user pressed ctrl-c.
func Run(ctx context.Context, m *Model, t Terminal) error {
	options := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithoutSignalHandler(),
		tea.WithOutput(t.Out), tea.WithEnvironment(t.Env), tea.WithWindowSize(t.Width, t.Height),
	}
	if t.In != nil && t.Resized == nil {
		options = append(options, tea.WithInput(t.In))
	}
	if t.Plain {
		options = append(options, tea.WithColorProfile(colorprofile.ASCII))
	}
	if t.Resized != nil {
		options = append(options, tea.WithInput(nil), tea.WithFPS(remoteFPS), tea.WithFilter(withoutSuspend))
		if !t.Plain {
			options = append(options, tea.WithColorProfile(colorprofile.Env(t.Env)))
		}
	}
	program := tea.NewProgram(m, options...)
	running, end := context.WithCancel(ctx)
	var remote sync.WaitGroup
	if t.Resized != nil {
		remote.Go(func() { readInput(running, t.In, uv.Environ(t.Env).Getenv("TERM"), program.Send) })
		remote.Go(func() { sendSizes(running, t.Resized, program) })
	}
	_, err := program.Run()
	end()
	remote.Wait()
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
	case ctx.Err() != nil:
		return ErrInterrupted
	case m.err != nil:
		return m.err
	default:
		return err
	}
}

// sendSizes sends the sizes of a remote terminal to the program until ctx is done.
func sendSizes(ctx context.Context, sizes <-chan tea.WindowSizeMsg, to *tea.Program) {
	for {
		select {
		case <-ctx.Done():
			return
		case size, ok := <-sizes:
			if !ok {
				return
			}
			to.Send(size)
		}
	}
}

// withoutSuspend is a filter that drops the message that would stop this process.
func withoutSuspend(_ tea.Model, msg tea.Msg) tea.Msg {
	if _, ok := msg.(tea.SuspendMsg); ok {
		return nil
	}
	return msg
}
