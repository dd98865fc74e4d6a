// Package tuitest helps test pages. It provides a scripted server, a driver that runs a
// page as the program does, and golden screens.
package tuitest

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// Noon is the current time in these tests.
var Noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// Me is the id of the user's account in these tests.
const Me = "me000000000000000000000000"

// Env returns the environment for a page under test: a window of 80×24 in true color on a
// dark background, at noon.
func Env(s ui.Server) *ui.Env {
	command := func(words ...string) string { return strings.Join(append([]string{"gridstand"}, words...), " ") }
	return &ui.Env{
		Server: s, Clock: func() time.Time { return Noon }, Now: Noon,
		Theme: ui.Theme{Profile: colorprofile.TrueColor, Still: true},
		Width: 80, Height: 24, Me: Me,
		Command: command, Invite: command, Reactions: true,
	}
}

// Driver runs a page's commands and passes their messages to the page, as the program does.
type Driver struct {
	t    *testing.T
	Env  *ui.Env
	Page ui.Page
	msgs chan tea.Msg
	// Left has the page's messages that open another page, close the page or quit, without those that
	// Leave has returned.
	Left []tea.Msg
	// Heard has the messages for Bubble Tea itself, such as the bell.
	Heard []tea.Msg

	running sync.WaitGroup // commands
}

// Drive starts a page and stops it at the end of the test.
func Drive(t *testing.T, env *ui.Env, p ui.Page) *Driver {
	t.Helper()
	d := &Driver{t: t, Env: env, Page: p, msgs: make(chan tea.Msg, 1000)}
	t.Cleanup(func() {
		p.Own().Stop()
		d.running.Wait()
	})
	d.run(p.Init())
	return d
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

// Send passes a message to the page.
func (d *Driver) Send(msg tea.Msg) {
	d.t.Helper()
	d.Env.Now = d.Env.Clock()
	switch msg := msg.(type) {
	case ui.TaskMsg:
		if msg.Owner == d.Page.Own() {
			d.Send(msg.Then)
		}
		return
	case ui.Then:
		d.run(d.Page.Continue(msg))
	case ui.OpenMsg, ui.ReplaceMsg, ui.BackMsg, tea.QuitMsg:
		d.Left = append(d.Left, msg)
		return
	case tea.RawMsg:
		d.Heard = append(d.Heard, msg)
		return
	case tea.KeyPressMsg:
		d.Page.Own().Say("")
		if d.Page.Own().Dialog != nil {
			d.run(d.Page.Own().Answer(msg))
		} else {
			d.run(ui.Press(d.Page, msg))
		}
	default:
		if t, ok := d.Page.Own().Dialog.(ui.Typing); ok {
			d.run(t.Input(msg))
		}
	}
	ui.Draw(d.Env, d.Page, false) // must never panic
}

// Result returns the message that delivers the result of a task to its continuation.
func Result[T any](then func(T, error) tea.Cmd, result T, err error) ui.Then {
	return func() tea.Cmd { return then(result, err) }
}

// Press presses keys, and returns d for Shows.
func (d *Driver) Press(keys ...string) *Driver {
	d.t.Helper()
	for _, key := range keys {
		d.Send(Key(key))
	}
	return d
}

// Shows asserts that the window contains texts.
func (d *Driver) Shows(texts ...string) {
	d.t.Helper()
	screen := d.Screen()
	for _, text := range texts {
		assert.Contains(d.t, screen, text)
	}
}

// Key returns a key, which is given as a character or by name.
func Key(key string) tea.KeyPressMsg {
	if code, named := codes[key]; named {
		return tea.KeyPressMsg{Code: code}
	}
	return tea.KeyPressMsg{Code: []rune(key)[0], Text: key}
}

var codes = map[string]rune{
	"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "esc": tea.KeyEsc,
	"enter": tea.KeyEnter, "tab": tea.KeyTab, "home": tea.KeyHome, "end": tea.KeyEnd,
	"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "backspace": tea.KeyBackspace,
}

// Until handles messages until holds returns true. what describes the condition in the
// failure message.
func (d *Driver) Until(what string, holds func() bool) {
	d.t.Helper()
	ctx := waittest.Context(d.t)
	for !holds() {
		select {
		case msg := <-d.msgs:
			d.Send(msg)
		case <-ctx.Done():
			require.Fail(d.t, "waited too long", "for: %s", what)
		}
	}
}

// Leave waits until the page opens another page or closes, and returns its next message about that.
func (d *Driver) Leave() tea.Msg {
	d.t.Helper()
	d.Until("another page", func() bool { return len(d.Left) > 0 })
	next := d.Left[0]
	d.Left = d.Left[1:]
	return next
}

// Settle handles all messages, until only time would bring another. It needs a synctest bubble.
func (d *Driver) Settle() {
	d.t.Helper()
	for synctest.Wait(); len(d.msgs) > 0; synctest.Wait() {
		d.Send(<-d.msgs)
	}
}

// Screen returns the window's contents as text, without colors or trailing spaces.
func (d *Driver) Screen() string {
	lines := strings.Split(ansi.Strip(ui.Draw(d.Env, d.Page, false).Content), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}
