// Package tuitest drives pages in tests: a scripted server, a driver that does what the
// program does, and golden screens.
package tuitest

import (
	"context"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/frame"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/style"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
)

// limit is the time after which a test gives up waiting.
const limit = time.Minute

// Noon is the time in these tests.
var Noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// Me is the id of the user's account in these tests.
const Me = "me000000000000000000000000"

// Env is what a page in a test gets: 80×24 in true color on a dark background, at noon.
func Env(s ui.Server) *ui.Env {
	return &ui.Env{
		Server: s, Clock: func() time.Time { return Noon }, Now: Noon,
		Theme: style.Theme{Profile: colorprofile.TrueColor, Still: true},
		Width: 80, Height: 24, Me: Me,
		Command: func(words ...string) string {
			text := "gridstand"
			for _, w := range words {
				text += " " + w
			}
			return text
		},
	}
}

// Driver runs a page's commands and brings their messages back to it, like the program.
type Driver struct {
	t    *testing.T
	Env  *ui.Env
	Page ui.Page
	msgs chan tea.Msg
	// Left are the messages with which the page opened others or closed.
	Left []tea.Msg
	// Heard are the messages for Bubble Tea itself.
	Heard []tea.Msg

	running sync.WaitGroup // commands
}

// Drive starts a page. The test's end stops it.
func Drive(t *testing.T, env *ui.Env, p ui.Page) *Driver {
	t.Helper()
	d := &Driver{t: t, Env: env, Page: p, msgs: make(chan tea.Msg, 1000)}
	t.Cleanup(func() {
		p.Tasks().Stop()
		d.running.Wait()
	})
	d.run(p.Init())
	return d
}

// New starts a page that open makes with the test's context.
func New(t *testing.T, env *ui.Env, open func(ctx context.Context, env *ui.Env) ui.Page) *Driver {
	t.Helper()
	return Drive(t, env, open(t.Context(), env))
}

func (d *Driver) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	d.running.Go(func() {
		switch msg := cmd().(type) {
		case nil:
		case tea.BatchMsg:
			for _, c := range msg {
				d.run(c)
			}
		default:
			d.msgs <- msg
		}
	})
}

// Send gives the page a message.
func (d *Driver) Send(msg tea.Msg) {
	d.t.Helper()
	if task, ok := msg.(ui.TaskMsg); ok {
		if msg = task.Msg; msg == nil {
			return
		}
	}
	switch msg.(type) {
	case ui.OpenMsg, ui.ReplaceMsg, ui.BackMsg, tea.QuitMsg:
		d.Left = append(d.Left, msg)
		return
	case tea.RawMsg:
		d.Heard = append(d.Heard, msg)
		return
	}
	d.Env.Now = d.Env.Clock()
	d.run(d.Page.Update(msg))
	frame.Draw(d.Env, d.Page, false, false, "") // must never panic
}

// Press types keys: letters, or the names of others.
func (d *Driver) Press(keys ...string) {
	d.t.Helper()
	codes := map[string]rune{
		"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "esc": tea.KeyEsc,
		"enter": tea.KeyEnter, "tab": tea.KeyTab, "home": tea.KeyHome, "end": tea.KeyEnd,
		"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "backspace": tea.KeyBackspace,
	}
	for _, key := range keys {
		switch {
		case codes[key] != 0:
			d.Send(tea.KeyPressMsg{Code: codes[key]})
		case key == "space":
			d.Send(tea.KeyPressMsg{Code: tea.KeySpace, Text: " "})
		default:
			d.Send(tea.KeyPressMsg{Code: []rune(key)[0], Text: key})
		}
	}
}

// Until handles messages until the condition holds.
func (d *Driver) Until(what string, holds func() bool) {
	d.t.Helper()
	timeout := time.After(limit)
	for !holds() {
		select {
		case msg := <-d.msgs:
			d.Send(msg)
		case <-timeout:
			require.Fail(d.t, "waited too long", "for: %s", what)
		}
	}
}

// Screen is the window as text, without colors.
func (d *Driver) Screen() string { return text(frame.Draw(d.Env, d.Page, false, false, "").Content) }
