package watch

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// liveGame returns a game in progress. moved is the time between its last move and noon.
func liveGame(id string, watchers int32, moved time.Duration) *pb.Game {
	g := tuitest.Game(aBoard())
	g.Id, g.Watchers, g.UpdateTime = id, watchers, timestamppb.New(tuitest.Noon.Add(-moved))
	return g
}

// set drives a page that chooses its games, with a clock that the test sets.
type set struct {
	*tuitest.Driver
	p      *page
	server *tuitest.Server
	now    time.Time
}

// newSet opens TV, or follows a player if one is given.
func newSet(t *testing.T, s *tuitest.Server, player *pb.Player) *set {
	t.Helper()
	x := &set{server: s, now: tuitest.Noon}
	env := tuitest.Env(s)
	env.Clock = func() time.Time { return x.now }
	x.p = New(t.Context(), env, ui.Route{TV: player == nil, Follow: player}).(*page)
	x.Driver = tuitest.Drive(t, env, x.p)
	return x
}

// wait advances the clock and makes the page check whether to request another game.
func (x *set) wait(d time.Duration) {
	x.now = x.now.Add(d)
	x.Send(ui.Then(x.p.check))
	x.Until("an answer", func() bool { return !x.p.chooser.finding })
}

// shows waits until the page has chosen g, sends g on its stream, and waits until the page
// shows its board.
func (x *set) shows(g *pb.Game) {
	x.Until("the game "+g.GetId(), func() bool { return x.p.game != nil && x.p.game.Game.GetId() == g.GetId() })
	x.server.Stream(g.GetId()).Push(client.Update{Game: g})
	x.Until("its board", func() bool { return x.p.game.Board() != nil })
}

// ends sends the last event of the game that the page shows, and waits until the page has
// handled it.
func (x *set) ends(id string) {
	e := tuitest.Ended(614, pb.Result_REASON_NO_MOVES)
	e.GameId, e.Time = id, timestamppb.New(x.now)
	x.server.Stream(id).Push(client.Update{Event: e})
	close(x.server.Stream(id))
	x.Until("the end", func() bool { return !x.p.game.running() })
}

// Ensure that TV waits while no game is live, and that it switches games when the user
// presses n and when a game ends.
func TestTV(t *testing.T) {
	t.Parallel()
	var live []*pb.Game
	s := &tuitest.Server{OnLiveGames: func(pb.OrderBy) ([]*pb.Game, error) { return live, nil }}
	x := newSet(t, s, nil)
	x.Until("a first request", func() bool { return !x.p.chooser.next.IsZero() })
	assert.Contains(t, x.Screen(), "No live games.")
	x.Press("n")
	assert.Equal(t, ui.OpenMsg{Route: ui.Route{New: &ui.NewGame{Variant: "classic"}}}, x.Leave())

	first, second := liveGame("first", 1, 0), liveGame("second", 0, 0)
	live = []*pb.Game{first, second}
	x.wait(emptyTime)
	x.shows(first)
	x.Press("n")
	x.shows(second)
	live = live[1:]
	x.Press("n")
	x.Until("an answer", func() bool { return !x.p.chooser.finding })
	assert.Equal(t, "second", x.p.game.Game.GetId())
	assert.Contains(t, x.Screen(), "No other game is live.")
	x.Press("x")
	assert.NotContains(t, x.Screen(), "No other game is live.")

	third := liveGame("third", 0, 0)
	live = []*pb.Game{third}
	x.ends("second")
	x.wait(time.Second)
	assert.Equal(t, "second", x.p.game.Game.GetId(), "the result stays for a while")
	assert.Contains(t, x.Screen(), "Game over: no moves left")
	x.wait(resultTime)
	x.shows(third)

	s.OnLiveGames = func(pb.OrderBy) ([]*pb.Game, error) {
		return nil, &client.Error{Code: codes.Unavailable, Message: "dial tcp: connection refused"}
	}
	x.Press("n")
	x.Until("the failure", func() bool { return !x.p.chooser.finding })
	assert.Contains(t, x.Screen(), "The server does not answer. Press the same key to retry.")
	assert.Equal(t, "third", x.p.game.Game.GetId(), "the current game stays")
	x.Press("enter") // It is the user's own game.
	assert.Equal(t, ui.OpenMsg{Route: ui.Route{Play: "third"}}, x.Leave())
}

// Ensure that the page asks for another game when the current one has ended or been idle for long
// enough, that it leaves a running game only for an active one, and never while the user is looking at
// an earlier version.
func TestLeaves(t *testing.T) {
	t.Parallel()
	ada := &pb.Player{Name: "ada"}
	for name, c := range map[string]struct {
		chooser     chooser
		idle, shown time.Duration // how long the game has been idle and on the screen
		over, back  bool
		other       time.Duration // how long another game has been idle
		due, leaves bool
	}{
		"active":                   {idle: idleTime - 1, shown: time.Hour},
		"idle":                     {idle: idleTime, shown: time.Hour, due: true, leaves: true},
		"idle, as is the other":    {idle: idleTime, shown: time.Hour, other: time.Hour, due: true},
		"idle, chosen by TV":       {idle: idleTime, due: true, leaves: true},
		"idle, chosen by the user": {chooser: chooser{asked: true}, idle: time.Hour, shown: idleTime - 1},
		"idle, chosen long ago":    {chooser: chooser{asked: true}, idle: time.Hour, shown: idleTime, due: true, leaves: true},
		"idle, in the past":        {idle: time.Hour, shown: time.Hour, back: true},
		"over":                     {over: true, other: time.Hour, due: true, leaves: true},
		"over, in the past":        {over: true, back: true},
		"over, result on screen":   {chooser: chooser{next: tuitest.Noon.Add(1)}, over: true},
		"asked already":            {chooser: chooser{finding: true}, idle: time.Hour, shown: time.Hour},
		"player active":            {chooser: chooser{player: ada}, idle: leaveTime - 1, shown: time.Hour},
		"player has left":          {chooser: chooser{player: ada}, idle: leaveTime, shown: time.Hour, due: true, leaves: true},
		"player plays both":        {chooser: chooser{player: ada}, idle: leaveTime, shown: time.Hour, other: 1, due: true},
	} {
		first := liveGame("first", 0, c.idle)
		if c.over {
			first.Status, first.Result = pb.GameStatus_GAME_STATUS_FINISHED, &pb.Result{}
		}
		p := shown(t, tuitest.Env(&tuitest.Server{}), first)
		defer p.Own().Stop()
		p.game.Replace(first)
		p.game.since = tuitest.Noon.Add(-c.shown)
		if c.back {
			p.game.show(first.GetVersion() - 1)
		}
		assert.Equal(t, c.due, c.chooser.due(p.game, tuitest.Noon), name)
		to, _ := c.chooser.found(liveGame("other", 0, c.other), nil, p.game, tuitest.Noon)
		if c.due || c.back {
			assert.Equal(t, c.leaves, to != nil, name)
		}
	}
}

// Ensure that TV chooses the right game.
func TestChoose(t *testing.T) {
	t.Parallel()
	a, b, third, idle := liveGame("a", 5, 0), liveGame("b", 0, 0), liveGame("third", 0, 0), liveGame("idle", 9, gamestate.MotionTime)
	unmoved, bots := liveGame("unmoved", 9, 0), liveGame("bots", 9, 0)
	unmoved.GetPosition().MoveCount, bots.Exhibition = 0, true
	for name, c := range map[string]struct {
		watched, best []*pb.Game
		seen          []string
		want          string
	}{
		"watched but seen":      {watched: []*pb.Game{a, b, third}, seen: []string{"a", "b"}, want: "third"},
		"bots and an idle game": {watched: []*pb.Game{unmoved, idle, bots}, want: "bots"},
		"bots and a player":     {watched: []*pb.Game{unmoved, bots, b}, want: "b"},
		"idle and without move": {watched: []*pb.Game{unmoved, idle}, seen: []string{"idle", "a"}, want: "idle"},
		"only without move":     {watched: []*pb.Game{unmoved}, want: "unmoved"},
		"nothing is live":       {},
		"most watched":          {watched: []*pb.Game{a, b}, best: []*pb.Game{b, a}, want: "a"},
		"no watchers":           {watched: []*pb.Game{b}, best: []*pb.Game{b}, want: "b"},
		"another is active":     {watched: []*pb.Game{idle, a}, best: []*pb.Game{idle, a}, want: "a"},
		"seen but active":       {watched: []*pb.Game{idle, a, b}, best: []*pb.Game{idle, a, b}, seen: []string{"a", "b"}, want: "a"},
		"none is active":        {watched: []*pb.Game{idle}, best: []*pb.Game{idle}, want: "idle"},
		"not shown yet":         {watched: []*pb.Game{a, b}, best: []*pb.Game{a, b}, seen: []string{"a"}, want: "b"},
		"all shown":             {watched: []*pb.Game{a, b}, best: []*pb.Game{a, b}, seen: []string{"b", "a"}, want: "b"},
		"only the current one":  {watched: []*pb.Game{a}, best: []*pb.Game{a}, seen: []string{"a"}, want: "a"},
	} {
		games := choose(append(c.watched, c.best...), c.seen, tuitest.Noon)
		assert.Equal(t, c.want, append(games, nil)[0].GetId(), name)
	}
}

// Ensure that the key for the next game reaches all games in motion, and again in the same order, although
// only one of them is watched.
func TestChoose_Next(t *testing.T) {
	t.Parallel()
	games := []*pb.Game{liveGame("a", 5, 0), liveGame("b", 0, 0), liveGame("c", 0, 0), liveGame("idle", 9, time.Hour)}
	x := newSet(t, &tuitest.Server{OnLiveGames: func(pb.OrderBy) ([]*pb.Game, error) { return games, nil }}, nil)
	for i, id := range []string{"a", "b", "c", "a", "b", "c"} {
		if i > 0 {
			x.Press("n")
		}
		x.Until("the game "+id, func() bool { return x.p.game != nil && x.p.game.Game.GetId() == id })
	}
	assert.Equal(t, []string{"a", "b", "c"}, x.p.chooser.seen)
}

// Ensure that an active game is found even if the lists by watchers and by score have only
// idle games.
func TestLiveGames(t *testing.T) {
	t.Parallel()
	s := &tuitest.Server{OnLiveGames: func(by pb.OrderBy) ([]*pb.Game, error) {
		if by == pb.OrderBy_ORDER_BY_RECENT {
			return []*pb.Game{liveGame("moves", 0, 0)}, nil
		}
		return []*pb.Game{liveGame("idle", 3, time.Hour)}, nil
	}}
	games, err := LiveGames(context.Background(), s, nil, tuitest.Noon)
	require.NoError(t, err)
	require.Len(t, games, 2, "each once")
	assert.Equal(t, "moves", games[0].GetId())
}

// Ensure that the page waits for a player's game, shows it, and then switches to the next
// one.
func TestFollow(t *testing.T) {
	t.Parallel()
	var playing *pb.Game
	var away error
	var asked atomic.Int32
	x := newSet(t, &tuitest.Server{OnPlayerGame: func(playerID string) (*pb.Game, error) {
		assert.Equal(t, "ada's id", playerID)
		asked.Add(1)
		return playing, away
	}}, &pb.Player{Id: "ada's id", Name: "ada"})
	x.Until("a first request", func() bool { return !x.p.chooser.next.IsZero() })
	assert.Contains(t, x.Screen(), "ada is not playing.")
	assert.Contains(t, x.Screen(), "following ada")
	x.wait(time.Second)
	assert.EqualValues(t, 1, asked.Load(), "requests every 2 s")
	playing = liveGame("first", 0, 0)
	x.wait(time.Second)
	x.shows(playing)
	away = client.ErrUnreachable
	x.wait(otherTime)
	x.Until("a request that fails", func() bool { return asked.Load() == 3 })
	assert.NotContains(t, x.Screen(), "Press the same key", "the user pressed no key")
	away = nil

	playing = nil
	x.ends("first")
	x.wait(resultTime)
	assert.Contains(t, x.Screen(), "ada is not playing (last move 6 s ago). Waiting for the next game …")
	assert.Contains(t, x.Screen(), "Game over: no moves left")
	playing = liveGame("second", 0, 0)
	playing.UpdateTime = timestamppb.New(x.now.Add(time.Minute))
	x.wait(2 * time.Second)
	x.shows(playing)
	assert.Contains(t, x.Screen(), "● live")
}
