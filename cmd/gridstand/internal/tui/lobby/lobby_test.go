package lobby

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens the lobby and waits for its lists. The user is ada, unless change modifies the
// environment.
func open(t *testing.T, change func(env *ui.Env)) (*page, *tuitest.Driver) {
	t.Helper()
	env := tuitest.Env(&tuitest.Server{
		OnLists: func(me, variant string, w pb.Window) (ui.Lists, error) { return lists(t, me, variant, w), nil },
	})
	if change != nil {
		change(env)
	}
	d := tuitest.Drive(t, env, New(t.Context(), env))
	p := d.Page.(*page)
	d.Until("the lists", func() bool { return p.loaded })
	return p, d
}

// Ensure that a player whose SSH key was removed during the session is told what to do.
func TestKeyRemoved(t *testing.T) {
	t.Parallel()
	p, d := open(t, func(env *ui.Env) { env.Remote = true })
	d.Send(got(p, ui.Lists{}, &client.Error{
		Code: codes.Unauthenticated, Reason: pb.ReasonKeyNotLinked, Message: "use CreatePlayer",
	}))
	d.Shows("Your SSH key was removed from its account. Connect again to play")
	assert.NotContains(t, d.Screen(), "CreatePlayer")
}

// Ensure that the keys open the right pages. The lists are those of lists.
func TestKeys(t *testing.T) {
	t.Parallel()
	race := &pb.CreateChallengeRequest{
		Kind: pb.ChallengeKind_CHALLENGE_KIND_RACE, Variant: "6x6", Limit: durationpb.New(3 * time.Minute),
	}
	for name, c := range map[string]struct {
		keys []string
		want ui.Route
	}{
		"play on":                    {[]string{"down", "down", "enter"}, ui.Route{Play: tuitest.GameID}},
		"take a seat":                {[]string{"enter"}, ui.Route{Join: waitingID}},
		"play on after moving about": {[]string{"end", "home", "down", "down", "up", "enter"}, ui.Route{Play: triboloID}},
		"play on, with j and k":      {[]string{"j", "j", "j", "k", "enter"}, ui.Route{Play: tuitest.GameID}},
		"watch":                      {[]string{"end", "enter"}, ui.Route{Watch: []string{deadID}}},
		"replay an own game":         {[]string{"tab", "end", "enter"}, ui.Route{Watch: []string{doneID}, Replay: true}},
		"replay a record":            {[]string{"tab", "tab", "down", "enter"}, ui.Route{Watch: []string{recordID[:25] + "1"}, Replay: true}},
		"TV":                         {[]string{"t"}, ui.Route{TV: true}},
		"wall":                       {[]string{"w"}, ui.Route{Wall: true}},
		"race somebody now":          {[]string{"s"}, ui.Route{NewChallenge: &ui.NewChallenge{}}},
		"rules":                      {[]string{"r"}, ui.Route{Rules: "tribolo"}},
		"rules of the selected game": {[]string{"v", "r"}, ui.Route{Rules: "tribolo"}},
		"new game":                   {[]string{"n", "1"}, ui.Route{New: &ui.NewGame{Variant: "classic"}}},
		"new game, by enter":         {[]string{"n", "enter"}, ui.Route{New: &ui.NewGame{Variant: "classic"}}},
		"against bots":               {[]string{"n", "4"}, ui.Route{New: &ui.NewGame{Variant: "tribolo"}}},
		"new race":                   {[]string{"R", "2"}, ui.Route{NewChallenge: &ui.NewChallenge{Request: race}}},
	} {
		_, d := open(t, nil)
		d.Press("d") // has no effect without a daily game
		d.Press(c.keys...)
		assert.Equal(t, ui.OpenMsg{Route: c.want}, d.Leave(), name)
	}
}

// Ensure that a new game of Tribolo with others has open seats, that a race offers only variants of 2048, and
// that esc and q close the list.
func TestNew(t *testing.T) {
	t.Parallel()
	p, d := open(t, nil)
	d.Press("n").Shows("1 enter classic: 4×4, a new tile", "3 Tribolo with others", "gridstand play --help")
	d.Press("3")
	g := d.Leave().(ui.OpenMsg).Route.New
	assert.Equal(t, "tribolo", g.Variant)
	require.Len(t, g.Options.Seats, 3)
	assert.NotNil(t, g.Options.Seats[0].GetCaller())
	assert.NotNil(t, g.Options.Seats[1].GetOpen())
	assert.NotNil(t, g.Options.Seats[2].GetOpen())
	d.Press("R", "3")
	assert.Contains(t, d.Screen(), "2 6x6", "the list is still open: no race has a third variant")
	assert.NotContains(t, d.Screen(), "Tribolo with others")
	d.Press("q")
	assert.Nil(t, p.Dialog)
	d.Press("n", "esc", "q")
	assert.Equal(t, ui.BackMsg{}, d.Leave())
}

// previews is a server that records the requests for lists and previews.
type previews struct {
	*tuitest.Server
	asked   chan string
	watched chan client.WatchOptions
}

func (s previews) Watch(ctx context.Context, o client.WatchOptions) ui.Stream[client.Update] {
	s.watched <- o
	return s.Server.Watch(ctx, o)
}

// Ensure that the preview watches the selected game without being counted, and only while the lobby is
// visible, that scrolling past a game makes no requests for it, and that v and ← change the variant
// and the period of the leaderboard.
func TestPreview(t *testing.T) {
	t.Parallel()
	s := previews{asked: make(chan string, 1000), watched: make(chan client.WatchOptions, 1000)}
	p, d := open(t, func(env *ui.Env) {
		s.Server = env.Server.(*tuitest.Server)
		inner := s.OnLists
		s.OnLists = func(me, variant string, w pb.Window) (ui.Lists, error) {
			s.asked <- variant
			return inner(me, variant, w)
		}
		env.Server = s
	})
	d.Until("the selected game's leaderboard", func() bool { return p.lists.Variant == "tribolo" })
	d.Until("the preview", func() bool { return p.preview.Unfollow != nil })
	before := len(s.asked)
	assert.Equal(t, client.WatchOptions{GameID: waitingID, Preview: true}, <-s.watched)
	d.Press("down", "down", "down", "up", "up", "up", "v", "v")
	d.Until("the leaderboard", func() bool { return p.lists.Variant == "6x6" })
	d.Until("the preview again", func() bool { return p.preview.Unfollow != nil })
	for range before {
		<-s.asked
	}
	for len(s.asked) > 0 {
		assert.NotEqual(t, "classic", <-s.asked)
	}
	assert.Len(t, s.watched, 1)
	d.Press("left")
	d.Until("all time", func() bool { return p.lists.Window == pb.Window_WINDOW_ALL_TIME })
	d.Env.Width, d.Env.Height = 120, 36
	d.Shows("─ Top 6x6 ─", "day week ‹all time›")

	<-s.watched
	p.Pause()
	require.Error(t, p.Ctx.Err(), "no request while another page is visible")
	d.Send(ui.Then(p.Resumed))
	require.NoError(t, p.Ctx.Err())
	d.Until("the preview after the other page", func() bool { return p.preview.Unfollow != nil })
	assert.Equal(t, client.WatchOptions{GameID: waitingID, Preview: true}, <-s.watched)

	p.preview.Err = client.ErrGameDamaged // as Follow does if the stream fails
	p.previewed(client.Update{}, false)
	assert.Contains(t, d.Screen(), "◌ waiting", "what the lists know")
	assert.NotContains(t, d.Screen(), "◌ ended")
}

// Ensure that the preview does not show a game that is no longer selected, if its seats arrive late after an undo.
func TestPreview_Late(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan *pb.Game)
		var s *tuitest.Server
		p, d := open(t, func(env *ui.Env) {
			s = env.Server.(*tuitest.Server)
			s.OnGame = func() (*pb.Game, error) { return <-answer, nil }
		})
		d.Press("down")
		d.Until("the preview", func() bool { return p.preview.Unfollow != nil })
		before := p.preview.Game.Game
		s.Stream(triboloID).Push(client.Update{Event: &pb.Event{
			GameId: triboloID, Version: before.GetVersion() + 1, Position: before.GetPosition(),
			Action: &pb.Event_Undone{Undone: &pb.Undone{ToVersion: 1}},
		}})
		d.Until("the undo", func() bool { return p.preview.Game.GetVersion() > before.GetVersion() })
		d.Press("up")
		answer <- before
		d.Settle()
		assert.Equal(t, waitingID, p.preview.Game.GetId())
	})
}

// Ensure that the leaderboard shows its period in windows of all sizes.
func TestPeriod(t *testing.T) {
	t.Parallel()
	_, d := open(t, nil)
	d.Press("tab", "tab")
	for _, w := range windows {
		for _, width := range []int{40, 50, 52, 58, 60, 78, 100, 160} {
			d.Env.Width, d.Env.Height = width, 20
			assert.Contains(t, d.Screen(), "‹"+w.name+"›", width)
		}
		d.Press("right")
	}
}

// Ensure that a window of 60 columns shows which list is selected, also without colors, and the key for the next one.
func TestLists(t *testing.T) {
	t.Parallel()
	_, d := open(t, nil)
	d.Env.Width, d.Env.Height = 60, 24
	for _, title := range []string{"‹Live games› ─ My games ─ Top ", "Live games ─ ‹My games› ─", "My games ─ ‹Top "} {
		d.Shows(title, "tab list")
		d.Press("tab")
	}
}

// Ensure that the games that have been idle the longest are listed last, and that the
// cursor stays on its game.
func TestOrder(t *testing.T) {
	t.Parallel()
	p, d := open(t, nil)
	d.Press("down", "down")
	later := lists(t, tuitest.Me, "classic", pb.Window_WINDOW_DAY)
	for _, g := range later.Live {
		if g.GetId() == idleID { // give it a new move
			g.UpdateTime = later.Live[2].GetUpdateTime()
			g.CreateTime = g.GetUpdateTime()
		}
	}
	later.Moving = 70 // more games than are listed
	d.Send(got(p, later, nil))
	assert.Equal(t, []string{waitingID, idleID, triboloID, tuitest.GameID, deadID}, p.cursors[paneLive].ids)
	assert.Equal(t, tuitest.GameID, p.current().GetId())
	assert.Contains(t, d.Screen(), "● 70 live")
	later.Live = slices.DeleteFunc(slices.Clone(later.Live), func(g *pb.Game) bool { return g.GetId() == tuitest.GameID })
	d.Send(got(p, later, nil))
	assert.Equal(t, deadID, p.current().GetId(), "the cursor stays on its row if the game is gone")
	later.Moving, later.Live = 0, later.Live[:1]
	d.Send(got(p, later, nil))
	d.Shows("○ 1 idle")
	later.Live = []*pb.Game{other(idleID, "vt100", 0, 512)} // which the server has not counted yet
	d.Send(got(p, later, nil))
	d.Shows("○ 0 live")
}

// Ensure that a guest is told why they can only watch, in lines that wrap at words.
func TestGuest(t *testing.T) {
	t.Parallel()
	p, d := open(t, func(env *ui.Env) {
		env.Me, env.WatchOnly = "", "You came without an SSH key, so you can watch but not play."
	})
	d.Env.Width, d.Env.Height = 40, 12
	for _, key := range []string{"n", "s"} {
		d.Press(key)
		assert.Nil(t, p.Dialog)
		assert.Contains(t, d.Screen(), "! You came without an SSH key, so you\n can watch but not play.")
	}
	d.Press("enter")
	assert.Equal(t, ui.OpenMsg{Route: ui.Route{Watch: []string{waitingID}}}, d.Leave())
}

// Ensure that the lobby explains what to do if there is no game to show, and shows an error until the
// lists load again.
func TestWelcome(t *testing.T) {
	t.Parallel()
	p, d := open(t, nil)
	d.Send(got(p, ui.Lists{}, errors.New("server is busy")))
	assert.Contains(t, d.Screen(), "! server is busy")
	d.Send(got(p, ui.Lists{Variants: tuitest.Variants(), Variant: "classic"}, nil))
	assert.NotContains(t, d.Screen(), "! server is busy")
	assert.Nil(t, p.current())
	for _, text := range []string{
		"n start a game", "r read the rules", "No live games. Press n to start one.", "No scores yet.",
		"None yet. Press n to start one, s to",
	} {
		assert.Contains(t, d.Screen(), text)
	}
	assert.NotContains(t, d.Screen(), "↑ ↓ select")
	assert.Contains(t, d.Screen(), "another period")
	d.Press("left")
	d.Send(got(p, ui.Lists{Variants: tuitest.Variants(), Variant: "classic", Window: pb.Window_WINDOW_ALL_TIME}, nil))
	assert.Contains(t, d.Screen(), "‹all time›")
	assert.NotContains(t, d.Screen(), "another period")
}

// withProfile is a server on which the user has a name and a streak, unless err is set. It counts the reads of the
// profile.
type withProfile struct {
	*tuitest.Server
	name  string
	err   error
	reads atomic.Int32
}

func (s *withProfile) Profile(context.Context) (*pb.GetProfileResponse, error) {
	s.reads.Add(1)
	if s.err != nil {
		return nil, s.err
	}
	player := &pb.Player{Id: tuitest.Me, Name: s.name}
	return &pb.GetProfileResponse{Player: player, Daily: &pb.DailyRecord{Streak: 5}}, nil
}

// Ensure that the lobby shows the user's name and streak, also if the server has no daily game.
func TestProfile(t *testing.T) {
	t.Parallel()
	server := &withProfile{name: "ada", Server: &tuitest.Server{
		OnLists: func(_, variant string, w pb.Window) (ui.Lists, error) { return lists(t, "", variant, w), nil },
	}}
	env := tuitest.Env(server)
	env.Width = 120
	d := tuitest.Drive(t, env, New(t.Context(), env))
	old := &pb.Player{Id: tuitest.Me, Name: "guest-k3xq7a"} // as in a game that has begun before
	assert.True(t, env.Guest(old))
	d.Until("the profile", func() bool { return strings.Contains(d.Screen(), "ada, 5 days in a row") })
	assert.False(t, env.Guest(old), "another program has renamed the user")
}

// Ensure that the user keeps the name that they have chosen if a profile is from before, or cannot be read again.
func TestProfile_Renamed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &withProfile{name: "guest-k3xq7a"}
		_, d := open(t, func(env *ui.Env) {
			server.Server = env.Server.(*tuitest.Server)
			env.Server = server
		})
		d.Until("the profile", func() bool { return strings.Contains(d.Screen(), "guest-k3xq7a") })
		for _, server.err = range []error{nil, errors.New("unavailable")} {
			d.Env.NewName = "ada"
			before := server.reads.Load()
			d.Until("another read of the profile", func() bool { return server.reads.Load() > before })
			d.Settle()
			assert.Equal(t, "ada", d.Env.NewName, server.err)
		}
	})
}
