package app

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakePage records the messages that it receives.
type fakePage struct {
	*ui.Tasks
	got    []tea.Msg
	paused bool
}

func newFakePage(ctx context.Context) *fakePage { return &fakePage{Tasks: ui.NewTasks(ctx)} }

// task returns the end of a task of the page, which records a message.
func (p *fakePage) task(msg tea.Msg) tea.Msg {
	return p.Do(func(context.Context) ui.Then { return func() tea.Cmd { return p.record(msg) } })()
}

func (p *fakePage) Init() tea.Cmd    { return nil }
func (p *fakePage) Pause()           { p.paused = true }
func (p *fakePage) Resumed() tea.Cmd { return p.record("resumed") }
func (p *fakePage) record(msg tea.Msg) tea.Cmd {
	p.got = append(p.got, msg)
	return nil
}
func (p *fakePage) View(int, int) ui.View { return ui.View{Body: "fake"} }
func (p *fakePage) Keys() ui.KeyTable {
	keys := []ui.Key{ui.Listed("x", "do it").Footer(1), ui.Listed("q", ui.BackText)}
	for _, name := range []string{"x", "y", "a", "A", "S", "up", "q", "esc"} {
		keys = append(keys, ui.Unlisted(name, func() tea.Cmd { return p.record(name) }))
	}
	return ui.KeyTable{keys}
}
func (p *fakePage) ClosingMessage() string { return "goodbye" }

// typing is a dialog for typing text, which its page gets.
type typing struct{ *fakePage }

func (d typing) Content(*ui.Env) (title, text string) { return "", "" }
func (d typing) Input(msg tea.Msg) tea.Cmd            { return d.record(msg) }

// newModel returns the program with pages on its stack.
func newModel(t *testing.T, pages ...ui.Page) *Model {
	t.Helper()
	m := New(t.Context(), Config{Env: *tuitest.Env(&tuitest.Server{})})
	t.Cleanup(m.Close)
	m.pages = pages
	return m
}

// send passes a message to the program and returns the message of the resulting command.
func send(t *testing.T, m *Model, msg tea.Msg) tea.Msg {
	t.Helper()
	_, cmd := m.Update(msg)
	m.View() // must never panic
	if cmd == nil {
		return nil
	}
	return cmd()
}

func press(char rune) tea.KeyPressMsg { return tea.KeyPressMsg{Code: char, Text: string(char)} }

// Ensure that each frame is drawn in a turn.
func TestModel_Turn(t *testing.T) {
	t.Parallel()
	page := newFakePage(t.Context())
	m := newModel(t, page)
	begun, ended := 0, 0
	m.turn = func(context.Context) func() {
		begun++
		return func() { ended++ }
	}
	send(t, m, press('x'))
	send(t, m, page.task("task"))
	assert.Equal(t, []int{2, 2}, []int{begun, ended})
}

// Ensure that keys go to the visible page and a task's message to the page that started the task,
// that a closed page receives no messages, and that the page below it is told that it is visible
// again.
func TestModel_Pages(t *testing.T) {
	t.Parallel()
	below, above := newFakePage(t.Context()), newFakePage(t.Context())
	m := newModel(t, below, above)
	send(t, m, press('x'))
	send(t, m, below.task("news"))
	late := above.task("late")
	assert.Contains(t, m.View().Content, "back")
	send(t, m, ui.BackMsg{})
	assert.Contains(t, m.View().Content, "quit", "the last page")
	assert.NotContains(t, m.View().Content, "back")
	send(t, m, press('y'))
	send(t, m, late)
	canceled := below.task("canceled")
	below.Stop()
	send(t, m, canceled)
	assert.Equal(t, []tea.Msg{"x"}, above.got)
	assert.Equal(t, []tea.Msg{"news", "resumed", "y"}, below.got)
	require.Error(t, above.Ctx.Err())
	assert.Equal(t, tea.QuitMsg{}, send(t, m, ui.BackMsg{}), "the program ends with its last page")
}

// Ensure that keys mean the same at the same place of any keyboard, and that text is typed as it is.
func TestModel_Places(t *testing.T) {
	t.Parallel()
	p := newFakePage(t.Context())
	m := newModel(t, p)
	assert.True(t, m.View().KeyboardEnhancements.ReportAlternateKeys, "a terminal with the kitty protocol says where keys are")
	for _, key := range []tea.KeyPressMsg{
		press('ф'), press('Ы'), press('ש'), press('a'), press('?'),
		{Code: tea.KeyLeftShift},
		{Code: 'q', Text: "q", BaseCode: 'a'},                       // AZERTY
		{Code: 'a', Text: "A", BaseCode: 'a', Mod: tea.ModCapsLock}, // American
		{Code: 'ф', Text: "Ф", BaseCode: 'a', Mod: tea.ModShift},    // Russian
		{Code: ',', Text: "?", BaseCode: 'm', Mod: tea.ModShift},    // AZERTY: the help, which the next key closes
		{Code: 'x', Text: "x", BaseCode: 'x'},
		{Code: tea.KeyUp},
	} {
		if p.Dialog != nil {
			key = press('x')
		}
		send(t, m, key)
	}
	assert.Equal(t, []tea.Msg{"a", "S", "a", "a", "a", "a", "A", "up"}, p.got)
	p.Ask(typing{p})
	send(t, m, press('ф'))
	assert.Equal(t, press('ф'), p.got[len(p.got)-1])
	assert.Equal(t, tea.QuitMsg{}, send(t, m, tea.KeyPressMsg{Code: 'с', BaseCode: 'c', Mod: tea.ModCtrl}))
}

// Ensure that a page replaces only itself and the pages above it, nothing once it is closed, and nothing if
// the request for the next page fails.
func TestModel_Replace(t *testing.T) {
	t.Parallel()
	below, closed, route := newFakePage(t.Context()), newFakePage(t.Context()), ui.Route{}
	m := newModel(t, below, closed)
	late := ui.Replace(closed.Tasks, route)()
	send(t, m, ui.BackMsg{})
	send(t, m, late)
	assert.Equal(t, []ui.Page{below}, m.pages)

	above := newFakePage(t.Context())
	m.pages = append(m.pages, newFakePage(t.Context()), above)
	owner, server := m.pages[1].Own(), m.env.Server.(*tuitest.Server)
	server.OnNewGame = func(string, client.GameOptions) (*pb.Game, error) { return nil, client.ErrRateLimited }
	again := ui.Replace(owner, ui.Route{New: &ui.NewGame{}})
	m.Update(send(t, m, again()))
	assert.Len(t, m.pages, 3)
	require.NoError(t, above.Ctx.Err())
	server.OnNewGame = func(string, client.GameOptions) (*pb.Game, error) { return tuitest.Game(tuitest.Board(4, 4)), nil }
	m.Update(send(t, m, again()))
	assert.Len(t, m.pages, 2)
	require.Error(t, above.Ctx.Err(), "its tasks have stopped")
	send(t, m, ui.Replace(m.top().Own(), route)())
	assert.Len(t, m.pages, 2)
	assert.Equal(t, "*lobby.page", fmt.Sprintf("%T", m.top()))
}

// Ensure that a key that is pressed twice while the server is slow opens one page and creates one guest, whom
// another sign-in that fails does not take away.
func TestModel_Opening(t *testing.T) {
	t.Parallel()
	p, signIns := newFakePage(t.Context()), 0
	m := newModel(t, p)
	m.env.Server = &tuitest.Server{OnNewGame: func(string, client.GameOptions) (*pb.Game, error) { return tuitest.Game(tuitest.Board(4, 4)), nil }}
	m.env.Me, m.env.SignIn = "", func(context.Context) (string, error) {
		if signIns++; signIns == 1 {
			return "", client.ErrRateLimited
		}
		return tuitest.Me, nil
	}
	failed := ui.CallSignedIn(m.tasks, m.env, func(context.Context, string) (any, error) { return nil, nil }, func(any, error) tea.Cmd { return nil })()
	_, answer := m.Update(ui.OpenMsg{Route: ui.Route{New: &ui.NewGame{}}})
	_, again := m.Update(ui.OpenMsg{Route: ui.Route{New: &ui.NewGame{}}})
	assert.Nil(t, again)
	send(t, m, press('x'))
	assert.Empty(t, p.got)
	assert.Contains(t, m.View().Content, "Opening …")
	assert.False(t, p.paused)
	m.Update(answer())
	assert.True(t, p.paused)
	assert.Empty(t, p.Notice, "also when the user is back")
	m.Update(failed)
	assert.Len(t, m.pages, 2)
	assert.NotContains(t, m.View().Content, "Opening …")
	assert.Equal(t, tuitest.Me, m.env.Me)
	m.Update(press('?'))
	assert.NotNil(t, m.top().Own().Dialog, "keys work again")
}

// silent is a server that does not answer Join, which the client repeats until its context is done.
type silent struct{ *tuitest.Server }

func (silent) Join(ctx context.Context, _ string, _ *int32) (client.Game, error) {
	<-ctx.Done()
	return client.Game{}, ctx.Err()
}

// Ensure that the request for the next page ends if the server does not answer, that other keys than q, esc and
// ctrl-c have no effect until then, that the page says why it did not open, and that no page opens after the user has left.
func TestModel_OpenTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newFakePage(t.Context())
		m := newModel(t, p)
		m.env.Server = silent{}
		_, request := m.Update(ui.OpenMsg{Route: ui.Route{Join: tuitest.GameID}})
		answer := make(chan tea.Msg, 1)
		go func() { answer <- request() }()
		send(t, m, press('x'))
		assert.Contains(t, m.View().Content, "Opening …")
		m.Update(waittest.Receive(t, "the end of the request", answer))
		assert.Contains(t, m.View().Content, "The server does not answer.")
		send(t, m, press('x'))
		assert.Equal(t, []tea.Msg{"x"}, p.got)
		above := newFakePage(t.Context())
		m.push(above, nil)
		_, again := m.Update(ui.OpenMsg{Route: ui.Route{Join: tuitest.GameID}})
		go func() { answer <- again() }()
		send(t, m, press('q'))
		send(t, m, tea.KeyPressMsg{Code: tea.KeyEscape})
		assert.Equal(t, []tea.Msg{"q", "esc"}, above.got)
		m.Update(ui.BackMsg{})
		send(t, m, press('x'))
		assert.Equal(t, []tea.Msg{"x", "resumed", "x"}, p.got)
		m.Update(waittest.Receive(t, "the end of the other request", answer))
		assert.Empty(t, p.Notice)

		// Another page may replace the one that waits.
		_, again = m.Update(ui.OpenMsg{Route: ui.Route{Join: tuitest.GameID}})
		go func() { answer <- again() }()
		next := newFakePage(t.Context())
		m.push(next, p.Own())
		send(t, m, press('x'))
		m.Update(waittest.Receive(t, "the end of a request of the replaced page", answer))
		send(t, m, press('y'))
		assert.Equal(t, []tea.Msg{"x", "y"}, next.got)
		assert.Equal(t, tea.QuitMsg{}, send(t, m, tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}))
	})
}

// Ensure that ? opens the help and any key closes it, except while a page accepts text
// input.
func TestModel_Help(t *testing.T) {
	t.Parallel()
	p := newFakePage(t.Context())
	m := newModel(t, p)
	send(t, m, press('?'))
	for _, text := range []string{"do it", "quit the program", "any key close", "suspend", "? F1", "keys, hosting:"} {
		assert.Contains(t, m.View().Content, text)
	}
	m.env.Width = 18
	assert.Regexp(t, `quit +│\n.*the program`, ansi.Strip(m.View().Content), "wrapped in a narrow window")
	m.env.Width = 80
	m.env.Remote = true
	assert.NotContains(t, m.View().Content, "suspend", "a remote terminal ignores ctrl-z")
	send(t, m, press('x'))
	assert.NotContains(t, m.View().Content, "quit the program")
	m.env.Width = 5
	p.Ask(&ui.Question{Title: "Sure?", Choices: ui.Yes("go", ui.Run(tea.Quit))})
	m.View()
	assert.Nil(t, send(t, m, press('y')), "the window is too small for the question")
	assert.NotNil(t, p.Dialog)
	send(t, m, tuitest.Key("esc"))
	assert.Nil(t, p.Dialog)
	assert.Empty(t, p.got)
	p.Ask(typing{p})
	send(t, m, press('?'))
	assert.Equal(t, []tea.Msg{press('?')}, p.got)
	assert.Equal(t, tea.QuitMsg{}, send(t, m, tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}))
	assert.ErrorIs(t, m.err, ErrInterrupted)
}

// Ensure that a notice gives way to the page's status after 15 seconds, or to a newer notice.
func TestModel_Notice(t *testing.T) {
	t.Parallel()
	m := New(t.Context(), Config{Env: *tuitest.Env(&tuitest.Server{}), Notice: "a warning"})
	p := newFakePage(t.Context())
	m.push(p, nil)
	for _, notice := range []string{"a warning", "Copied."} {
		for range 14 {
			m.tick()
		}
		assert.Equal(t, notice, p.Notice)
		p.Say("Copied.")
	}
	for range 15 {
		m.tick()
	}
	assert.Empty(t, p.Notice)
}

// Ensure that the program waits before each key and each size of a remote terminal, ends at ctrl-c and
// when its context is canceled, and leaves the page's closing message in the terminal.
func TestRun(t *testing.T) {
	t.Parallel()
	for _, canceled := range []bool{true, false} {
		testRun(t, canceled)
	}
}

func testRun(t *testing.T, canceled bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	// The game does not open, so the fake page stays.
	server := &tuitest.Server{OnGame: func() (*pb.Game, error) { return nil, client.ErrGameNotFound }}
	m := New(ctx, Config{Env: *tuitest.Env(server), Start: ui.Route{Play: tuitest.GameID}})
	m.pages = []ui.Page{newFakePage(ctx)}
	keys := make(chan []byte)
	defer close(keys)
	var out bytes.Buffer
	resized, waited, done := make(chan tea.WindowSizeMsg), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- Run(ctx, m, Terminal{
			Keys: keys, Out: &out, Width: 40, Height: 12, Resized: resized,
			Pace: func(ctx context.Context) error {
				select {
				case waited <- struct{}{}:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			},
		})
	}()
	keys <- []byte("zz")
	waittest.Receive(t, "the wait before the first key", waited)
	waittest.Receive(t, "the wait before the second key", waited)
	resized <- tea.WindowSizeMsg{Width: 50, Height: 20}
	waittest.Receive(t, "the wait before the size", waited)
	if canceled {
		cancel()
	} else {
		keys <- []byte("\x03")
		waittest.Receive(t, "the wait before ctrl-c", waited)
	}
	require.ErrorIs(t, waittest.Receive(t, "the end of the program", done), ErrInterrupted)
	assert.True(t, strings.HasSuffix(out.String(), "goodbye\n"), out.String())
	if !canceled { // It empties its screen. Otherwise, tmux would move rows of it to the main screen after a resize.
		assert.Regexp(t, `\x1b\[2J(\r|\x1b\[[<>\d;]*[A-Za-z])*\x1b\[\?1049l`, out.String())
	}
}
