package lobby

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/frame"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// open starts the lobby with its lists, for ada unless change makes it another's.
func open(t *testing.T, change func(env *ui.Env)) (*page, *tuitest.Driver) {
	t.Helper()
	env := tuitest.Env(&tuitest.Server{
		OnLists: func(me, variant string, w pb.Window) (ui.Lists, error) { return lists(t, me, variant, w), nil },
	})
	if change != nil {
		change(env)
	}
	d := tuitest.New(t, env, New)
	p := d.Page.(*page)
	d.Until("the lists", func() bool { return p.loaded })
	return p, d
}

// TestKeys opens every page by its keys.
func TestKeys(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys []string
		want ui.Route
	}{
		"play on":                    {[]string{"down", "down", "enter"}, ui.Route{Play: tuitest.GameID}},
		"take a seat":                {[]string{"enter"}, ui.Route{Join: waitingID}},
		"take a seat from afar":      {[]string{"down", "down", "j"}, ui.Route{Join: waitingID}},
		"play on after moving about": {[]string{"end", "home", "down", "down", "up", "enter"}, ui.Route{Play: triboloID}},
		"watch":                      {[]string{"end", "enter"}, ui.Route{Watch: []string{deadID}}},
		"replay the own game":        {[]string{"tab", "end", "enter"}, ui.Route{Replay: doneID}},
		"replay a record":            {[]string{"tab", "tab", "down", "enter"}, ui.Route{Replay: recordID[:25] + "1"}},
		"TV":                         {[]string{"t"}, ui.Route{TV: true}},
		"rules":                      {[]string{"r"}, ui.Route{Rules: "tribolo"}},
		"rules of the selected game": {[]string{"v", "r"}, ui.Route{Rules: "tribolo"}},
		"follow a player":            {[]string{"end", "f"}, ui.Route{Follow: "bob"}},
		"follow the best player":     {[]string{"tab", "tab", "f"}, ui.Route{Follow: "bob"}},
		"rules of a new game":        {[]string{"n", "right", "r"}, ui.Route{Rules: "classic"}},
		"filter":                     {[]string{"/", "v", "t", "enter", "enter"}, ui.Route{Watch: []string{idleID}}},
		"clear the filter":           {[]string{"/", "v", "t", "esc", "down", "enter"}, ui.Route{Watch: []string{deadID}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, d := open(t, nil)
			d.Press(c.keys...)
			d.Until("another page", func() bool { return len(d.Left) > 0 })
			assert.Equal(t, ui.OpenMsg{Route: c.want}, d.Left[0])
		})
	}
}

// TestQuit leaves the lobby, after the form was closed by esc.
func TestQuit(t *testing.T) {
	t.Parallel()
	p, d := open(t, nil)
	d.Press("n")
	require.NotNil(t, p.form)
	d.Press("esc")
	require.Nil(t, p.form)
	d.Press("q")
	d.Until("leaving", func() bool { return len(d.Left) > 0 })
	assert.Equal(t, ui.BackMsg{}, d.Left[0])
}

// TestNewGame describes a game in the form.
func TestNewGame(t *testing.T) {
	t.Parallel()
	p, d := open(t, nil)
	d.Press("n") // of the selected game's variant
	require.Equal(t, "tribolo", p.form.variant)
	d.Press("left", "right", "down", "right", "right", "down", "right", "down", "down", "left", "down", "right", "enter")
	d.Until("another page", func() bool { return len(d.Left) > 0 })
	g := d.Left[0].(ui.OpenMsg).Route.New
	require.NotNil(t, g)
	assert.Equal(t, "tribolo", g.Variant)
	assert.True(t, g.Options.Private)
	assert.Equal(t, 30*time.Second, g.Options.TurnLimit)
	require.Len(t, g.Options.Seats, 3)
	assert.NotNil(t, g.Options.Seats[0].GetCaller())
	assert.Equal(t, "random", g.Options.Seats[1].GetBot())
	assert.Equal(t, "minimax", g.Options.Seats[2].GetBot())
}

// TestNewGame_manySeats offers no seats of a variant that says it has billions.
func TestNewGame_manySeats(t *testing.T) {
	t.Parallel()
	f := newForm(tuitest.Env(nil), []*pb.Variant{{Id: "crowd", Seats: math.MaxInt32}}, "crowd")
	assert.Empty(t, f.game().Options.Seats)
}

// TestScores changes the leaderboard's variant and time.
func TestScores(t *testing.T) {
	t.Parallel()
	p, d := open(t, nil)
	d.Until("the selected game's leaderboard", func() bool { return p.lists.Variant == "tribolo" })
	d.Press("v")
	d.Until("the next leaderboard", func() bool { return p.lists.Variant == "classic" })
	d.Press("left")
	d.Until("all time", func() bool { return p.lists.Window == pb.Window_WINDOW_ALL_TIME })
	d.Env.Width, d.Env.Height = 120, 36
	assert.Contains(t, d.Screen(), "─ Top classic ─")
	assert.Contains(t, d.Screen(), "day week ‹all time›")
}

// TestScroll asks the server for nothing that was selected only in passing.
func TestScroll(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 1000)
	watched := make(chan ui.WatchOptions, 1000)
	p, d := open(t, func(env *ui.Env) {
		env.Server = previews{&tuitest.Server{OnLists: func(me, variant string, w pb.Window) (ui.Lists, error) {
			asked <- variant
			return lists(t, me, variant, w), nil
		}}, watched}
	})
	d.Until("the selected game's leaderboard", func() bool { return p.lists.Variant == "tribolo" })
	d.Until("the preview", func() bool { return p.preview.cancel != nil })
	before := len(asked)
	d.Press("down", "down", "down", "up", "up", "up", "v", "v")
	d.Until("the leaderboard", func() bool { return p.lists.Variant == "6x6" })
	d.Until("the preview again", func() bool { return p.preview.cancel != nil })
	for range before {
		<-asked
	}
	for len(asked) > 0 {
		assert.NotEqual(t, "classic", <-asked)
	}
	assert.Len(t, watched, 2)
}

// TestSizes draws the lobby in windows of any size.
func TestSizes(t *testing.T) {
	t.Parallel()
	p, d := open(t, nil)
	for width := 0; width < 240; width += 17 {
		for height := 0; height < 70; height += 7 {
			d.Env.Width, d.Env.Height = width, height
			d.Screen()
		}
	}
	d.Press("n")
	require.NotNil(t, p.form)
	d.Env.Width, d.Env.Height = 3, 3
	d.Screen()
}

// TestHelp fits the keys of every state of the lobby into a window of 40×12.
func TestHelp(t *testing.T) {
	t.Parallel()
	p, d := open(t, nil)
	d.Env.Width, d.Env.Height = 40, 12
	for _, key := range []string{"tab", "n"} {
		width, height := lipgloss.Size(frame.Help(d.Env, p.Keys()))
		assert.LessOrEqual(t, width, 40)
		assert.LessOrEqual(t, height, 12)
		d.Press(key)
	}
}

// TestOrder lists games without a move for long last, and keeps the cursor on its game.
func TestOrder(t *testing.T) {
	t.Parallel()
	p, d := open(t, nil)
	assert.Equal(t, []string{waitingID, triboloID, tuitest.GameID, idleID, deadID}, p.cursors[paneLive].ids)
	d.Press("down", "down")
	later := lists(t, tuitest.Me, "classic", pb.Window_WINDOW_DAY)
	for _, g := range later.Live {
		if g.GetId() == idleID { // moves again
			g.UpdateTime = later.Live[2].GetUpdateTime()
			g.CreateTime = g.GetUpdateTime()
		}
	}
	d.Send(listsMsg{lists: later})
	assert.Equal(t, []string{waitingID, idleID, triboloID, tuitest.GameID, deadID}, p.cursors[paneLive].ids)
	assert.Equal(t, tuitest.GameID, p.current().GetId())
	later.Live = slices.DeleteFunc(slices.Clone(later.Live), func(g *pb.Game) bool { return g.GetId() == tuitest.GameID })
	d.Send(listsMsg{lists: later})
	assert.Equal(t, deadID, p.current().GetId(), "the row stays if its game is gone")
}

// TestLive counts games with a move in the last 30 seconds, and shows how long the others
// have been idle.
func TestLive(t *testing.T) {
	t.Parallel()
	_, d := open(t, nil)
	screen := d.Screen()
	assert.Contains(t, screen, "● 2 live  ◌ 1 waiting")
	assert.Regexp(t, `○ classic +bob +36,228 +13 min`, screen)
	assert.Regexp(t, `● classic +ada +12,340 +4 s`, screen)
	assert.Regexp(t, `VARIANT +PLAYER +SCORE +IDLE`, screen)
	more := lists(t, tuitest.Me, "classic", pb.Window_WINDOW_DAY)
	more.Moving = 70 // not all are in the list
	d.Send(listsMsg{lists: more})
	assert.Contains(t, d.Screen(), "● 70 live")
}

// TestGuest tells a user who can only watch why.
func TestGuest(t *testing.T) {
	t.Parallel()
	p, d := open(t, func(env *ui.Env) { env.Me, env.Guest = "", "Playing needs an SSH key." })
	for _, key := range []string{"n", "j"} {
		d.Press(key)
		assert.Nil(t, p.form)
		assert.Contains(t, d.Screen(), "! Playing needs an SSH key.")
	}
	d.Env.Guest = "You came without an SSH key, so you can watch but not play."
	d.Env.Width, d.Env.Height = 40, 12
	d.Press("n")
	assert.Contains(t, d.Screen(), "! You came without an SSH key, so you\n can watch but not play.", "wraps at words")
	d.Press("enter")
	d.Until("another page", func() bool { return len(d.Left) > 0 })
	assert.Equal(t, ui.OpenMsg{Route: ui.Route{Watch: []string{waitingID}}}, d.Left[0])
}

// TestCopy copies the whole id, which no list shows.
func TestCopy(t *testing.T) {
	t.Parallel()
	p, d := open(t, nil)
	d.Press("end")
	assert.NotContains(t, d.Screen(), deadID)
	cmd := p.copy()
	require.NotNil(t, cmd)
	assert.Contains(t, d.Screen(), "\n Copied the id of game deaddead.")
	assert.Equal(t, deadID, fmt.Sprint(cmd()))
}

// previews is a server that records how it is watched.
type previews struct {
	ui.Server
	got chan ui.WatchOptions
}

func (s previews) Watch(ctx context.Context, id string, o ui.WatchOptions) ui.Stream {
	s.got <- o
	return s.Server.Watch(ctx, id, o)
}

// TestPreview watches the selected game without being in its audience, and only while the
// lobby is shown.
func TestPreview(t *testing.T) {
	t.Parallel()
	got := make(chan ui.WatchOptions, 2)
	p, d := open(t, func(env *ui.Env) { env.Server = previews{env.Server, got} })
	d.Until("the preview", func() bool { return p.preview.cancel != nil })
	assert.Equal(t, ui.WatchOptions{Preview: true}, <-got)
	d.Press("t")
	assert.Nil(t, p.preview.cancel)
	assert.Nil(t, p.Update(refreshMsg{p.cycle}), "asks for nothing while another page is shown")
	earlier := p.cycle
	d.Send(ui.ResumedMsg{})
	assert.Nil(t, p.Update(refreshMsg{earlier}), "has one timer")
	assert.NotNil(t, p.Update(refreshMsg{p.cycle}))
	d.Until("the preview again", func() bool { return p.preview.cancel != nil })
	assert.Equal(t, ui.WatchOptions{Preview: true}, <-got)
}

// TestPreview_row shows the selected game in its row as new as in the preview.
func TestPreview_row(t *testing.T) {
	t.Parallel()
	p, d := open(t, nil)
	d.Press("down", "down")
	d.Until("the preview", func() bool { return p.preview.id == tuitest.GameID && p.preview.cancel != nil })
	e := tuitest.Moved(614, pb.Direction_DIRECTION_UP, tuitest.Board(4, 4), 12800)
	d.Send(ui.UpdateMsg{GameID: tuitest.GameID, Stream: d.Env.Server.Watch(t.Context(), tuitest.GameID, ui.WatchOptions{}), Update: client.Update{Event: e}})
	assert.Regexp(t, `▸● classic +ada +12,800 +0 s`, d.Screen())
}

// TestWelcome says what to do if there is no game to show.
func TestWelcome(t *testing.T) {
	t.Parallel()
	p, d := open(t, nil)
	d.Send(listsMsg{lists: ui.Lists{Variants: tuitest.Variants(), Variant: "classic"}})
	assert.Nil(t, p.current())
	for _, text := range []string{"n starts a game", "r the rules", "No live games. n starts one.", "No scores yet."} {
		assert.Contains(t, d.Screen(), text)
	}
}

// TestProblem says what is wrong, and retries.
func TestProblem(t *testing.T) {
	t.Parallel()
	_, d := open(t, nil)
	d.Send(listsMsg{err: errors.New("no such thing")})
	assert.Contains(t, d.Screen(), "! no such thing")
	d.Send(listsMsg{lists: lists(t, tuitest.Me, "classic", pb.Window_WINDOW_DAY)})
	assert.NotContains(t, d.Screen(), "! no such thing")
}
