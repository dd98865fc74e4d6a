package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// ErrInterrupted says that the user left with ctrl-c, or that a signal ended
// the screen.
var ErrInterrupted = errors.New("interrupted")

// Options say how a screen is shown.
type Options struct {
	// In and Out are the terminal. A nil In is the terminal of the process.
	In  io.Reader
	Out io.Writer
	// Width and Height are the size where Out is something else that draws.
	Width, Height int
	// Env is the environment, from which the terminal's depth of colour is
	// guessed.
	Env []string
	// Plain is for terminals and people that want no colours and nothing that
	// moves by itself.
	Plain bool
	// Resized, if not nil, says that the terminal is remote, and has its size after
	// each change. Its depth of colour follows from Env alone, it is drawn less often,
	// and ctrl-z, which would stop this process, does nothing.
	Resized <-chan tea.WindowSizeMsg
}

// remoteFPS is how many times a second a remote terminal is drawn at most.
const remoteFPS = 20

// Screen is what Run shows: the lobby, a game that is played, or games that are
// watched.
type Screen interface {
	tea.Model
	// Farewell is the line that stays in the terminal, empty for none.
	Farewell() string

	// stop ends the commands that are under way, waits for them, and reports
	// whether the user interrupted the screen.
	stop() (interrupted bool)
}

// Run shows a screen until the user leaves it, ctx ends, or something breaks.
// The terminal is then as it was before, and the screen's farewell stands
// there. It returns ErrInterrupted when ctx ended or the user interrupted it.
func Run(ctx context.Context, s Screen, o Options) error {
	options := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithoutSignalHandler(),
		tea.WithOutput(o.Out), tea.WithEnvironment(o.Env), tea.WithWindowSize(o.Width, o.Height),
	}
	if o.In != nil {
		options = append(options, tea.WithInput(o.In))
	}
	if o.Plain {
		options = append(options, tea.WithColorProfile(colorprofile.ASCII))
	}
	if o.Resized != nil {
		options = append(options, tea.WithFPS(remoteFPS), tea.WithFilter(withoutSuspend))
		if !o.Plain {
			options = append(options, tea.WithColorProfile(colorprofile.Env(o.Env)))
		}
	}
	program := tea.NewProgram(s, options...)
	done := make(chan struct{})
	var resizing sync.WaitGroup
	resizing.Go(func() { forwardSizes(program, o.Resized, done) })
	_, err := program.Run()
	close(done)
	resizing.Wait()
	interrupted := s.stop()
	if errors.Is(err, tea.ErrProgramPanic) {
		return err
	}
	if text := s.Farewell(); text != "" {
		if _, err := fmt.Fprintln(o.Out, text); err != nil {
			return fmt.Errorf("terminal: %w", err)
		}
	}
	if interrupted || ctx.Err() != nil {
		return ErrInterrupted
	}
	return err
}

// forwardSizes tells a program the sizes of a remote terminal until done is closed.
func forwardSizes(program *tea.Program, sizes <-chan tea.WindowSizeMsg, done <-chan struct{}) {
	for {
		select {
		case size := <-sizes:
			program.Send(size)
		case <-done:
			return
		}
	}
}

// withoutSuspend drops the message that would stop this process.
func withoutSuspend(_ tea.Model, msg tea.Msg) tea.Msg {
	if _, ok := msg.(tea.SuspendMsg); ok {
		return nil
	}
	return msg
}

// stop implements Screen.
func (b *base) stop() bool {
	b.tasks.stop()
	return b.interrupted
}

// Farewell implements Screen: how the game stands and how to take it up again.
func (p *Play) Farewell() string {
	if !p.over() {
		text := fmt.Sprintf("%s left a %s game at %s", p.player(), p.variant(), p.facts())
		switch {
		case p.ends:
			return text
		case p.resume != "":
			return text + ". Resume it with " + p.resume
		}
		return text + ". Resume it with " + p.commandLine("play", "--resume") + ", or " + p.commandLine("play", p.opened.GetId())
	}
	text := fmt.Sprintf("%s ended a %s game with %s", p.player(), p.variant(), p.facts())
	for _, at := range []struct {
		place  *Place
		window string
	}{{p.day, "today"}, {p.all, "all time"}} {
		if at.place != nil && at.place.Rank > 0 && p.game.GetRanked() {
			text += ", " + p.stands(at.place, at.window)
		}
	}
	if p.ends || p.resume != "" {
		return text
	}
	return text + ". Verify it with " + p.commandLine("verify", p.opened.GetId())
}

// Farewell implements Screen: how the game stood.
func (w *Watch) Farewell() string {
	if w.picture() == nil {
		return ""
	}
	follow := "Go on with " + w.commandLine("watch", w.gameID)
	if w.over() {
		follow = "Verify it with " + w.commandLine("verify", w.gameID)
	}
	if w.tribolo() != nil {
		return fmt.Sprintf("%s: %s. %s", w.variant(), w.facts(), follow)
	}
	return fmt.Sprintf("%s: a %s game at %s. %s", w.player(), w.variant(), w.facts(), follow)
}

// facts are the numbers of a game in a line.
func (m *match) facts() string {
	if m.tribolo() != nil {
		var parts []string
		for i := range m.game.GetSeats() {
			parts = append(parts, fmt.Sprintf("%s %d", actor(m.game.Game, i), m.scoreOf(i)))
		}
		text := strings.Join(parts, ", ") + fmt.Sprintf(" (%s)", m.movesMade())
		if m.over() {
			text += "; " + m.winners("")
		}
		return text
	}
	return fmt.Sprintf("%s (best tile %s, %s)", plural(int(m.score()), "point"), m.bestTile(), m.movesMade())
}
