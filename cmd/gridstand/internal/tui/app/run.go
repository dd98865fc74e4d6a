package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

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
	// remote terminal, the input comes from Keys, the color depth is detected from Env alone, the
	// frame rate is limited to remoteFPS, and ctrl-z is ignored because it would stop this
	// process.
	Resized <-chan tea.WindowSizeMsg
	// Keys delivers the input of a remote terminal in parts, and is closed at its end.
	Keys <-chan []byte
	// Pace waits until the program may handle the next key, mouse movement or size of a remote
	// terminal, and returns an error if ctx is done first. If it is nil, there is no limit.
	Pace func(ctx context.Context) error
	// Turn waits until the program may draw a frame. The program then draws and calls end. If it is
	// nil, the program never waits.
	Turn func(ctx context.Context) (end func())
	// Env has the environment variables used to detect the color depth.
	Env []string
	// Plain turns colors off.
	Plain bool
}

// remoteFPS is the maximum number of frames per second on a remote terminal.
const remoteFPS = 20

// Run runs the program until the user quits, ctx is done or the program fails. It then
// restores the terminal and prints the last page's closing message. It returns ErrInterrupted if
// ctx is done or the user pressed ctrl-c.
func Run(ctx context.Context, m *Model, t Terminal) error {
	options := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithoutSignalHandler(),
		tea.WithOutput(t.Out), tea.WithEnvironment(t.Env), tea.WithWindowSize(t.Width, t.Height),
		tea.WithFilter(m.filter(t.Resized != nil)),
	}
	if t.In != nil {
		options = append(options, tea.WithInput(t.In))
	}
	if t.Plain {
		options = append(options, tea.WithColorProfile(colorprofile.ASCII))
	}
	if t.Resized != nil {
		options = append(options, tea.WithInput(nil), tea.WithFPS(remoteFPS))
		if !t.Plain {
			options = append(options, tea.WithColorProfile(colorprofile.Env(t.Env)))
		}
	}
	m.turn = t.Turn
	program := tea.NewProgram(m, options...)
	running, end := context.WithCancel(ctx)
	var remote sync.WaitGroup
	if t.Resized != nil {
		send := func(msg tea.Msg) {
			if t.Pace == nil || t.Pace(running) == nil {
				program.Send(msg)
			}
		}
		remote.Go(func() { readInput(running, t.Keys, uv.Environ(t.Env).Getenv("TERM"), send) })
		remote.Go(func() { each(running, t.Resized, func(size tea.WindowSizeMsg) { send(size) }) })
	}
	_, err := program.Run()
	end()
	remote.Wait()
	m.Close()
	if errors.Is(err, tea.ErrProgramPanic) {
		return err
	}
	if text := m.closingMessage(); text != "" {
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

// each calls do with the values from a channel until it is closed or ctx is done.
func each[T any](ctx context.Context, values <-chan T, do func(T)) {
	for {
		select {
		case <-ctx.Done():
			return
		case value, ok := <-values:
			if !ok {
				return
			}
			do(value)
		}
	}
}

// filter returns a filter that makes the last frame empty: after a resize, tmux leaves rows of another
// one on the main screen. For a remote terminal, it also drops the message that would stop this process.
func (m *Model) filter(remote bool) func(tea.Model, tea.Msg) tea.Msg {
	return func(_ tea.Model, msg tea.Msg) tea.Msg {
		switch msg.(type) {
		case tea.QuitMsg:
			m.ended = true
		case tea.SuspendMsg:
			if remote {
				return nil
			}
		}
		return msg
	}
}

// inputPause is the time without input after which readInput drops its parser. A paste or a control
// sequence of more than maxInput bytes, which the parser would collect until it ends, is ignored
// together with everything that follows before a pause of ignoredPause.
const (
	inputPause   = 10 * time.Second
	ignoredPause = time.Second
	maxInput     = 68 << 10 // 64 KiB, and what is read while earlier events are delivered
)

// readInput parses the input of a remote terminal and sends its events until the input ends
// or ctx is done. Bubble Tea would keep a parser for the whole session, with a table of key
// sequences that takes 135 kB. readInput keeps one only while the user presses keys, so
// that users who only watch need none.
func readInput(ctx context.Context, keys <-chan []byte, term string, send func(tea.Msg)) {
	each(ctx, keys, func(chunk []byte) {
		(&burst{ctx: ctx, unread: chunk, more: keys}).parse(term, send)
	})
}

// burst is the input from a key press until the next pause.
type burst struct {
	ctx    context.Context
	unread []byte
	more   <-chan []byte
	// collected counts the bytes that the parser has read since its last event.
	collected atomic.Int64
}

// parse sends the events of the burst, and returns at its end.
func (b *burst) parse(term string, send func(tea.Msg)) {
	events := make(chan uv.Event)
	go b.decode(term, events)
	for e := range events {
		b.collected.Store(0)
		send(e)
	}
}

// decode sends the events of the burst to a channel and closes it. The decoder panics at control sequences with
// more than 32 parameters (x/ansi 0.11.9). decode then drops the rest of the burst, because a panic
// would end the sessions of all users.
func (b *burst) decode(term string, events chan<- uv.Event) {
	defer close(events)
	var end context.CancelFunc
	b.ctx, end = context.WithCancel(b.ctx)
	defer end() // after a panic, the decoder still reads
	defer func() { _ = recover() }()
	_ = uv.NewTerminalReader(b, term).StreamEvents(b.ctx, events) // Read fails only with io.EOF.
}

// Read implements io.Reader. It returns io.EOF after a pause.
func (b *burst) Read(p []byte) (int, error) {
	if len(b.unread) == 0 && !b.next(inputPause) {
		return 0, io.EOF
	}
	n := copy(p, b.unread)
	b.unread = b.unread[n:]
	if b.collected.Add(int64(n)) > maxInput {
		for b.next(ignoredPause) { // ignore it
		}
		return 0, io.EOF
	}
	return n, nil
}

// next waits for more input. It returns false after a pause, and at the end of the input.
func (b *burst) next(pause time.Duration) bool {
	select {
	case <-b.ctx.Done():
		return false
	case <-time.After(pause):
		return false
	case chunk, ok := <-b.more:
		b.unread = chunk
		return ok
	}
}
