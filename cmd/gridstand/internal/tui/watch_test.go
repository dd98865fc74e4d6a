package tui

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// TestWatch shows a game from its first picture to its end.
func TestWatch(t *testing.T) {
	t.Parallel()
	from := newStream()
	w := NewWatch(t.Context(), &script{streams: map[string]*stream{gameID: from}}, WatchConfig{GameID: gameID, Clock: atNoon})
	d := drive(t, w)
	assert.Contains(t, w.View().Content, "connecting")
	assert.Empty(t, w.Farewell())
	from.push(client.Update{Game: someGame(someBoard(4, 4))})
	d.until("the game", func() bool { return w.board() != nil })
	count := int32(41)
	from.push(client.Update{Audience: &count})
	from.push(client.Update{Event: movedEvent(614, left, someBoard(4, 4), 12344)})
	d.until("a move", func() bool { return w.game.GetVersion() == 614 })
	assert.Contains(t, w.View().Content, "41 watching")
	assert.Contains(t, w.View().Content, "version 614")
	d.press("n", "up") // mean nothing here
	assert.Nil(t, w.tv)
	from.push(client.Update{Event: lastEvent(615, pb.Result_REASON_NO_MOVES)})
	from.end()
	d.until("the end", w.over)
	assert.Contains(t, w.Farewell(), "Verify it with gridstand verify "+gameID)
	d.press("q")
	d.until("leaving", func() bool { return d.quit })
}

// TestMistaken says on every live screen what is wrong where a server answers,
// but not as it is asked, and that the screen goes on trying.
func TestMistaken(t *testing.T) {
	t.Parallel()
	lost := func(cause client.Cause) client.Update {
		return client.Update{Connection: client.Connection{
			State: client.Reconnecting, Delay: 2 * time.Second,
			Err: &client.Error{Code: codes.Unavailable, Message: "no", Cause: cause},
		}}
	}
	waiting := NewWatch(t.Context(), nil, WatchConfig{GameID: gameID, Clock: atNoon})
	watch, play, tribolo := someWatch(someGame(someBoard(4, 4))), somePlay(someGame(someBoard(4, 4))), someTribolo(t, nil)
	for name, s := range map[string]struct {
		screen Screen
		match  *match
	}{
		"watch": {watch, &watch.match}, "watch, nothing yet": {waiting, &waiting.match},
		"play": {play, &play.match}, "tribolo": {tribolo, &tribolo.match},
	} {
		t.Cleanup(func() { s.screen.stop() })
		s.match.update(lost(client.CauseNoTLS), noon)
		assert.Contains(t, s.screen.View().Content, "The server answers, but without TLS. Trying again …", name)
		assert.Contains(t, s.screen.View().Content, "reconnecting (2 s)", name)
		s.match.update(lost(client.CauseUnknown), noon)
		assert.NotContains(t, s.screen.View().Content, "Trying again", name)
		s.match.update(lost(client.CauseUntrusted), noon)
		assert.Contains(t, s.screen.View().Content, "certificate", name)
		s.match.update(client.Update{Connection: client.Connection{State: client.Live}}, noon)
		assert.NotContains(t, s.screen.View().Content, "certificate", name)
	}
}

// liveGame is a game that is being played.
func liveGame(id string, watchers int32, moved time.Duration) *pb.Game {
	g := someGame(someBoard(4, 4))
	g.Id, g.Watchers, g.UpdateTime = id, watchers, timestamppb.New(noon.Add(-moved))
	return g
}

// TestTV waits where nothing is live, goes from game to game with n, and on
// its own when one ends.
func TestTV(t *testing.T) {
	t.Parallel()
	first, second := newStream(), newStream()
	s := &script{streams: map[string]*stream{"first": first, "second": second}}
	var live []*pb.Game
	s.live = func(pb.OrderBy) ([]*pb.Game, error) { return live, nil }
	w := NewWatch(t.Context(), s, WatchConfig{Clock: atNoon})
	d := drive(t, w)
	d.until("a first look", func() bool { return w.tv.wait > 0 })
	assert.Contains(t, w.View().Content, "gridstand play")

	live = []*pb.Game{liveGame("first", 1, 0), liveGame("second", 0, 0)}
	waited := findMsg{w.tv.looks}
	d.press("n") // rather than wait
	d.until("the first game", func() bool { return w.gameID == "first" })
	assert.Equal(t, "the most watched live game", w.tv.why)
	first.push(client.Update{Game: liveGame("first", 1, 0)})
	d.until("its picture", func() bool { return w.board() != nil })

	d.press("n")
	d.until("the second game", func() bool { return w.gameID == "second" })
	assert.Equal(t, "the best live classic game", w.tv.why)
	live = live[1:]
	second.push(client.Update{Game: liveGame("second", 0, 0)})
	d.until("its picture", func() bool { return w.board() != nil })
	d.press("n")
	d.until("no other", func() bool { return !w.tv.finding })
	assert.Equal(t, "second", w.gameID)
	assert.Contains(t, w.state(), "No other")

	live = []*pb.Game{liveGame("third", 0, 0)}
	e := lastEvent(614, pb.Result_REASON_NO_MOVES)
	e.GameId = "second"
	second.push(client.Update{Event: e})
	d.until("the end", w.over)
	_, cmd := w.Update(waited)
	assert.Nil(t, cmd, "a wait that the user cut short")
	d.send(findMsg{w.tv.looks}) // as after the result was shown
	d.until("the third game", func() bool { return w.gameID == "third" })

	s.live = func(pb.OrderBy) ([]*pb.Game, error) {
		return nil, &client.Error{Code: codes.Unavailable, Message: "dial tcp: connection refused"}
	}
	d.press("n")
	d.until("the failure", func() bool { return !w.tv.finding })
	assert.Equal(t, "The server does not answer. Press the same key to retry, q to quit.", w.problem)
	assert.Equal(t, "third", w.gameID, "what is on stays on")
}

// TestChoose tells which game TV takes.
func TestChoose(t *testing.T) {
	t.Parallel()
	a, b, idle := liveGame("a", 5, 0), liveGame("b", 0, 0), liveGame("idle", 9, time.Hour)
	for name, c := range map[string]struct {
		watched, best []*pb.Game
		seen          []string
		want          string
	}{
		"nothing is live":        {},
		"most watched":           {watched: []*pb.Game{a, b}, best: []*pb.Game{b, a}, want: "a"},
		"nobody watches":         {watched: []*pb.Game{b}, best: []*pb.Game{b}, want: "b"},
		"somebody moves":         {watched: []*pb.Game{idle, a}, best: []*pb.Game{idle, a}, want: "a"},
		"nobody moves":           {watched: []*pb.Game{idle}, best: []*pb.Game{idle}, want: "idle"},
		"not shown yet":          {watched: []*pb.Game{a, b}, best: []*pb.Game{a, b}, seen: []string{"a"}, want: "b"},
		"all shown":              {watched: []*pb.Game{a, b}, best: []*pb.Game{a, b}, seen: []string{"b", "a"}, want: "b"},
		"only the one that's on": {watched: []*pb.Game{a}, best: []*pb.Game{a}, seen: []string{"a"}, want: "a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, _ := (&tv{seen: c.seen}).choose(c.watched, c.best, noon)
			assert.Equal(t, c.want, g.GetId())
		})
	}
}

// TestWatchSteps goes back in a game, before what was seen too, while it goes
// on, and comes back to what is live.
func TestWatchSteps(t *testing.T) {
	t.Parallel()
	from := newStream()
	s := &script{streams: map[string]*stream{gameID: from}}
	for v := int32(605); v <= 613; v++ {
		s.past = append(s.past, movedEvent(v, up, someBoard(4, 4), v))
	}
	w := NewWatch(t.Context(), s, WatchConfig{GameID: gameID, Clock: atNoon})
	d := drive(t, w)
	from.push(client.Update{Game: someGame(someBoard(4, 4))})
	from.push(client.Update{Event: movedEvent(614, left, someBoard(4, 4), 12344)})
	from.push(client.Update{Event: movedEvent(615, left, someBoard(4, 4), 12348)})
	d.until("the moves", func() bool { return w.game.GetVersion() == 615 })

	at := func() int32 { m := w.shown(); return m.game.GetVersion() }
	d.press("left")
	assert.EqualValues(t, 614, at())
	assert.Contains(t, w.View().Content, "Paused at version 614 of 615")
	assert.Contains(t, w.View().Content, "12,344")
	assert.NotContains(t, w.View().Content, "12,348")
	from.push(client.Update{Event: movedEvent(616, left, someBoard(4, 4), 12352)})
	d.until("another move", func() bool { return w.game.GetVersion() == 616 })
	assert.EqualValues(t, 614, at(), "the picture stands still")
	d.press("left", "left")
	d.until("what was before", func() bool { return at() == 612 })
	d.press("right", "right", "right")
	assert.EqualValues(t, 615, at())
	d.press("right")
	assert.Zero(t, w.past.at)
	assert.EqualValues(t, 616, at())
	d.press(" ", "left", "l")
	assert.Zero(t, w.past.at)
	d.press(" ")
	assert.EqualValues(t, 616, w.past.at)
	d.press(" ")
	assert.Zero(t, w.past.at)
}

// TestWatch_Forgets drops the oldest versions of a long game, but not those that
// the user looks back at.
func TestWatch_Forgets(t *testing.T) {
	t.Parallel()
	w := NewWatch(t.Context(), &script{}, WatchConfig{GameID: gameID, Clock: atNoon})
	w.replace(someGame(someBoard(4, 4)))
	first := w.game.GetVersion()
	on := func(n int32) {
		for range n {
			w.game.Version++
			w.past.remember(&w.match)
		}
	}
	on(pastLimit)
	w.past.at = first + 1
	on(10)
	shown := w.shown()
	assert.Equal(t, first+1, shown.game.GetVersion())
	on(pausedLimit)
	assert.Len(t, w.past.frames, pausedLimit)
	w.live()
	on(1)
	assert.Len(t, w.past.frames, pastLimit)
	assert.Equal(t, w.game.GetVersion(), w.past.frames[pastLimit-1].version)
}

// TestWall shows several games, side by side where they fit, else one of them.
func TestWall(t *testing.T) {
	t.Parallel()
	first, second := newStream(), newStream()
	s := &script{streams: map[string]*stream{"first": first, "second": second}}
	w := NewWall(t.Context(), s, []string{"first", "second"}, WatchConfig{Clock: atNoon})
	d := drive(t, w)
	first.push(client.Update{Game: liveGame("first", 1, 0)})
	second.push(client.Update{Game: func() *pb.Game {
		g := liveGame("second", 2, 0)
		g.Seats[0].GetPlayer().Name = "bob"
		g.Position.Board = &pb.Position_Twenty48{Twenty48: someBoard(5, 5)}
		return g
	}()})
	d.until("both games", func() bool { return w.games[0].board() != nil && w.games[1].board() != nil })
	d.send(tea.WindowSizeMsg{Width: 120, Height: 30})
	assert.Regexp(t, "1 watching.*2 watching", ansi.Strip(w.View().Content), "on one line")
	d.send(tea.WindowSizeMsg{Width: 60, Height: 14})
	assert.Contains(t, w.View().Content, "1 watching")
	assert.NotContains(t, w.View().Content, "2 watching")
	d.press("n")
	assert.Contains(t, w.View().Content, "2 watching")
	assert.Contains(t, w.Farewell(), "bob")
	d.press("q")
	d.until("leaving", func() bool { return d.quit })
}
