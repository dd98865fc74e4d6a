package app

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
	"unsafe"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakePage records the messages that it receives.
type fakePage struct {
	*ui.Tasks
	typing bool
	got    []tea.Msg
}

func newFakePage(ctx context.Context) *fakePage { return &fakePage{Tasks: ui.NewTasks(ctx)} }

// task returns the end of a task of the page, which records a message.
func (p *fakePage) task(msg tea.Msg) tea.Msg {
	return p.Do(func(context.Context) ui.Then { return func() tea.Cmd { return p.Input(msg) } })()
}

func (p *fakePage) Init() tea.Cmd                   { return nil }
func (p *fakePage) Key(msg tea.KeyPressMsg) tea.Cmd { return p.Input(msg) }
func (p *fakePage) Resumed() tea.Cmd                { return p.Input("resumed") }
func (p *fakePage) Input(msg tea.Msg) tea.Cmd {
	p.got = append(p.got, msg)
	return nil
}
func (p *fakePage) View(int, int) ui.View { return ui.View{Body: "fake"} }
func (p *fakePage) Keys() ui.KeyMap {
	return ui.Keys(ui.Bind("x", "do it", "x"), ui.Bind("q", ui.BackText, "q"))
}
func (p *fakePage) ClosingMessage() string { return "goodbye" }
func (p *fakePage) Typing() bool           { return p.typing }

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

// Ensure that programs that draw the same frame share its text.
func TestModel_SharedFrame(t *testing.T) {
	t.Parallel()
	m, other := newModel(t, newFakePage(t.Context())), newModel(t, newFakePage(t.Context()))
	frame, same := m.View().Content, other.View().Content
	assert.Contains(t, frame, "fake")
	assert.Same(t, unsafe.StringData(frame), unsafe.StringData(same))
	other.env.Width--
	assert.NotEqual(t, frame, other.View().Content)
}

// Ensure that keys go to the visible page, and that a task's message goes to the page that
// started the task.
func TestModel_Messages(t *testing.T) {
	t.Parallel()
	below, above := newFakePage(t.Context()), newFakePage(t.Context())
	m := newModel(t, below, above)
	send(t, m, press('x'))
	send(t, m, below.task("news"))
	assert.Equal(t, []tea.Msg{press('x')}, above.got)
	assert.Equal(t, []tea.Msg{"news"}, below.got)
}

// Ensure that a page replaces only itself and the pages above it, and nothing once it is closed.
func TestModel_Replace(t *testing.T) {
	t.Parallel()
	below, closed, next := newFakePage(t.Context()), newFakePage(t.Context()), newFakePage(t.Context())
	route := ui.Route{Page: func(context.Context) ui.Page { return next }}
	m := newModel(t, below, closed)
	late := ui.Replace(closed.Tasks, route)()
	send(t, m, ui.BackMsg{})
	send(t, m, late)
	assert.Equal(t, []ui.Page{below}, m.pages)

	above := newFakePage(t.Context())
	m.pages = append(m.pages, newFakePage(t.Context()), above)
	send(t, m, ui.Replace(m.pages[1].Own(), route)())
	assert.Equal(t, []ui.Page{below, next}, m.pages)
	assert.Error(t, above.Ctx.Err(), "its tasks have stopped")
}

// Ensure that a terminal that does not know its size gets a window of 80×24.
func TestModel_NoSize(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	m.Update(tea.WindowSizeMsg{})
	assert.Equal(t, []int{80, 24}, []int{m.env.Width, m.env.Height})
	m.Update(tea.WindowSizeMsg{Width: 60, Height: 14})
	assert.Equal(t, []int{60, 14}, []int{m.env.Width, m.env.Height})
}

// Ensure that a closed page receives no messages, and that the page below it is told that
// it is visible again.
func TestModel_Back(t *testing.T) {
	t.Parallel()
	below, above := newFakePage(t.Context()), newFakePage(t.Context())
	m := newModel(t, below, above)
	late := above.task("late")
	assert.Contains(t, m.View().Content, "back")
	send(t, m, ui.BackMsg{})
	assert.Contains(t, m.View().Content, "quit", "the last page")
	assert.NotContains(t, m.View().Content, "back")
	send(t, m, press('?'))
	assert.NotContains(t, m.View().Content, "back")
	send(t, m, press('x'))
	send(t, m, late)
	assert.Empty(t, above.got)
	assert.Equal(t, []tea.Msg{"resumed"}, below.got)
	require.Error(t, above.Ctx.Err())
	assert.Equal(t, tea.QuitMsg{}, send(t, m, ui.BackMsg{}), "the program ends with its last page")
	assert.Equal(t, "goodbye", m.closingMessage())
}

// Ensure that ? opens the help and any key closes it, except while a page accepts text
// input.
func TestModel_Help(t *testing.T) {
	t.Parallel()
	p := newFakePage(t.Context())
	m := newModel(t, p)
	send(t, m, press('?'))
	assert.Contains(t, m.View().Content, "quit the program")
	assert.Contains(t, m.View().Content, "any key close")
	assert.Contains(t, m.View().Content, "suspend")
	m.env.Remote = true
	assert.NotContains(t, m.View().Content, "suspend", "a remote terminal ignores ctrl-z")
	send(t, m, press('x'))
	assert.NotContains(t, m.View().Content, "quit the program")
	assert.Empty(t, p.got)
	p.typing = true
	send(t, m, press('?'))
	assert.Equal(t, []tea.Msg{press('?')}, p.got)
	assert.Equal(t, tea.QuitMsg{}, send(t, m, tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}))
	assert.ErrorIs(t, m.err, ErrInterrupted)
}

// Ensure that a game that cannot be opened leaves the current page open and shows the
// reason, and that the program ends if it has no page.
func TestModel_OpenFails(t *testing.T) {
	t.Parallel()
	server := &tuitest.Server{OnGame: func() (*pb.Game, error) { return nil, client.ErrGameNotFound }}
	m := New(t.Context(), Config{Env: *tuitest.Env(server)})
	t.Cleanup(m.Close)
	p := newFakePage(t.Context())
	m.pages = []ui.Page{p}
	assert.Nil(t, send(t, m, send(t, m, ui.OpenMsg{Route: ui.Route{Play: tuitest.GameID}})))
	assert.Contains(t, m.View().Content, "no longer has this game")

	m = New(t.Context(), Config{Env: *tuitest.Env(server), Start: ui.Route{Play: tuitest.GameID}})
	t.Cleanup(m.Close)
	_, cmd := m.Update(m.open(m.config.Start)())
	assert.Equal(t, tea.QuitMsg{}, cmd())
	require.ErrorIs(t, m.err, client.ErrGameNotFound)
}

// Ensure that a guest is told why they cannot play.
func TestModel_Guest(t *testing.T) {
	t.Parallel()
	m := newModel(t, newFakePage(t.Context()))
	m.env.Guest = "Add a key to play."
	assert.Nil(t, send(t, m, ui.OpenMsg{Route: ui.Route{Join: tuitest.GameID}}))
	assert.Contains(t, m.View().Content, "Add a key to play.")
}

// Ensure that the program asks for a name before the first game, shows why a name was
// rejected without leaving the page, and opens the game once a name is accepted.
func TestModel_Name(t *testing.T) {
	t.Parallel()
	var names []string
	m := newModel(t, newFakePage(t.Context()))
	m.env.Me = ""
	m.config.LogIn = func(_ context.Context, name string) (string, error) {
		names = append(names, name)
		if len(names) == 1 {
			return "", errors.New("the name is already taken")
		}
		return tuitest.Me, nil
	}
	opened := ""
	m.env.Server = &tuitest.Server{OnNewGame: func(variant string, _ client.GameOptions) (*pb.Game, error) {
		opened = variant
		return tuitest.Game(tuitest.Board(4, 4)), nil
	}}
	send(t, m, ui.OpenMsg{Route: ui.Route{New: &ui.NewGame{Variant: "classic"}}})
	for _, char := range "ada" {
		send(t, m, press(char))
	}
	send(t, m, send(t, m, tea.KeyPressMsg{Code: tea.KeyEnter}))
	assert.Contains(t, m.View().Content, "already taken")
	send(t, m, press('2'))
	replace := send(t, m, send(t, m, tea.KeyPressMsg{Code: tea.KeyEnter}))
	send(t, m, send(t, m, replace))
	assert.Equal(t, []string{"ada", "ada2"}, names)
	assert.Equal(t, "classic", opened)
	assert.Equal(t, tuitest.Me, m.env.Me)
	assert.Len(t, m.pages, 2, "the game replaces the form")
}

// Ensure that the program ends when its context is canceled, and leaves the page's closing message
// in the terminal.
func TestRun(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	// The game never opens, so the fake page stays.
	server := &tuitest.Server{OnGame: func() (*pb.Game, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	m := New(ctx, Config{Env: *tuitest.Env(server), Start: ui.Route{Play: tuitest.GameID}})
	m.pages = []ui.Page{newFakePage(ctx)}
	in, keys := io.Pipe()
	defer func() { _ = keys.Close() }()
	var out bytes.Buffer
	done := make(chan error, 1)
	go func() { done <- Run(ctx, m, Terminal{In: in, Out: &out, Width: 40, Height: 12}) }()
	cancel()
	select {
	case err := <-done:
		require.ErrorIs(t, err, ErrInterrupted)
	case <-time.After(5 * time.Minute):
		require.Fail(t, "the program is still running after its context was canceled")
	}
	_ = keys.Close()
	assert.True(t, strings.HasSuffix(out.String(), "goodbye\n"), out.String())
}

// Ensure that a remote terminal waits before each key and each size.
func TestRun_Pace(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	server := &tuitest.Server{OnGame: func() (*pb.Game, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	m := New(ctx, Config{Env: *tuitest.Env(server), Start: ui.Route{Play: tuitest.GameID}})
	in, keys := io.Pipe()
	defer func() { _ = keys.Close() }()
	resized := make(chan tea.WindowSizeMsg)
	waited := make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, m, Terminal{
			In: in, Out: io.Discard, Width: 40, Height: 12, Resized: resized,
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
	wait := func(what string) {
		select {
		case <-waited:
		case <-time.After(5 * time.Minute):
			require.Fail(t, "the program did not wait before "+what)
		}
	}
	_, err := io.WriteString(keys, "zz")
	require.NoError(t, err)
	wait("the first key")
	wait("the second key")
	resized <- tea.WindowSizeMsg{Width: 50, Height: 20}
	wait("the size")
	cancel()
	select {
	case err := <-done:
		require.ErrorIs(t, err, ErrInterrupted)
	case <-time.After(5 * time.Minute):
		require.Fail(t, "the program is still running after its context was canceled")
	}
}

// Ensure that closing the last page asks for confirmation if this would disconnect others.
func TestModel_QuitOthers(t *testing.T) {
	t.Parallel()
	others := 2
	m := newModel(t, newFakePage(t.Context()))
	m.env.Local = &ui.Local{Others: func() int { return others }}
	assert.Nil(t, send(t, m, ui.BackMsg{}))
	assert.Contains(t, m.View().Content, "2 others are connected.")
	assert.Nil(t, send(t, m, press('x')))
	assert.Contains(t, m.View().Content, "2 others are connected.")
	assert.Nil(t, send(t, m, press('q')), "q does not confirm")
	assert.NotContains(t, m.View().Content, "connected")
	assert.Nil(t, send(t, m, ui.BackMsg{}))
	assert.Nil(t, send(t, m, press('n')))
	assert.NotContains(t, m.View().Content, "connected")
	others = 1
	assert.Nil(t, send(t, m, ui.BackMsg{}))
	assert.Contains(t, m.View().Content, "1 other is connected.")
	assert.Equal(t, tea.QuitMsg{}, send(t, m, press('y')))
	others = 0
	assert.Equal(t, tea.QuitMsg{}, send(t, m, ui.BackMsg{}))
}
