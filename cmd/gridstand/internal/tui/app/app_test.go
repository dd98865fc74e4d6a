package app

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"charm.land/bubbles/v2/help"
	"charm.land/bubbles/v2/key"
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

// fakePage records what it gets.
type fakePage struct {
	tasks  *ui.Tasks
	typing bool
	got    []tea.Msg
}

func newFakePage(ctx context.Context) *fakePage { return &fakePage{tasks: ui.NewTasks(ctx)} }

func (p *fakePage) Init() tea.Cmd { return nil }
func (p *fakePage) Update(msg tea.Msg) tea.Cmd {
	p.got = append(p.got, msg)
	return nil
}
func (p *fakePage) View(int, int) ui.View { return ui.View{Body: "fake"} }
func (p *fakePage) Keys() help.KeyMap     { return p }
func (p *fakePage) ShortHelp() []key.Binding {
	return []key.Binding{ui.Bind("x", "do it", "x"), ui.NewCommon().Back}
}
func (p *fakePage) FullHelp() [][]key.Binding { return [][]key.Binding{p.ShortHelp()} }
func (p *fakePage) Farewell() string          { return "farewell" }
func (p *fakePage) Tasks() *ui.Tasks          { return p.tasks }
func (p *fakePage) Typing() bool              { return p.typing }

// newModel makes the program with pages on its stack.
func newModel(t *testing.T, pages ...ui.Page) *Model {
	t.Helper()
	m := New(t.Context(), Config{Env: *tuitest.Env(&tuitest.Server{})})
	t.Cleanup(m.Close)
	m.pages = pages
	return m
}

// send gives the program a message and returns the message of its command.
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

// Ensure that keys go to the page that is shown, and what a task brings to its own page.
func TestModel_Messages(t *testing.T) {
	t.Parallel()
	below, above := newFakePage(t.Context()), newFakePage(t.Context())
	m := newModel(t, below, above)
	send(t, m, press('x'))
	send(t, m, below.tasks.Do(func(context.Context) tea.Msg { return "news" })())
	assert.Equal(t, []tea.Msg{press('x')}, above.got)
	assert.Equal(t, []tea.Msg{"news"}, below.got)
}

// Ensure that a closed page gets nothing, and the one below it is told.
func TestModel_Back(t *testing.T) {
	t.Parallel()
	below, above := newFakePage(t.Context()), newFakePage(t.Context())
	m := newModel(t, below, above)
	late := above.tasks.Do(func(context.Context) tea.Msg { return "late" })()
	assert.Contains(t, m.View().Content, "back")
	send(t, m, ui.BackMsg{})
	assert.Contains(t, m.View().Content, "quit", "the last page")
	assert.NotContains(t, m.View().Content, "back")
	send(t, m, press('?'))
	assert.NotContains(t, m.View().Content, "back")
	send(t, m, press('x'))
	send(t, m, late)
	assert.Empty(t, above.got)
	assert.Equal(t, []tea.Msg{ui.ResumedMsg{}}, below.got)
	require.Error(t, above.tasks.Ctx.Err())
	assert.Equal(t, tea.QuitMsg{}, send(t, m, ui.BackMsg{}), "the program ends with its last page")
	assert.Equal(t, "farewell", m.farewell())
}

// Ensure that ? opens the help on every page and any key closes it, but for a page that
// takes text.
func TestModel_Help(t *testing.T) {
	t.Parallel()
	p := newFakePage(t.Context())
	m := newModel(t, p)
	send(t, m, press('?'))
	assert.Contains(t, m.View().Content, "leave the program")
	send(t, m, press('x'))
	assert.NotContains(t, m.View().Content, "leave the program")
	assert.Empty(t, p.got)
	p.typing = true
	send(t, m, press('?'))
	assert.Equal(t, []tea.Msg{press('?')}, p.got)
	assert.Equal(t, tea.QuitMsg{}, send(t, m, tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}))
	assert.True(t, m.interrupted)
}

// Ensure that a game that cannot be opened leaves the page as it is, with the reason, and
// ends a program that has no page.
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

// Ensure that the program asks for a name before the first game, in place shows why a
// name is refused, and opens the game under the next one.
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
	assert.Len(t, m.pages, 2, "the game is in the place of the form")
}

// Ensure that the program ends with its context, and leaves the page's last line.
func TestRun(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	// The game never opens, so that the page stays.
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
	case <-time.After(10 * time.Second):
		require.Fail(t, "the program goes on after its context")
	}
	_ = keys.Close()
	assert.True(t, strings.HasSuffix(out.String(), "farewell\n"), out.String())
}
