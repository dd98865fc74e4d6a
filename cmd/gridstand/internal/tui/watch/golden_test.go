package watch

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/game/replay"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
)

// shown returns a game's page after several moves.
func shown(t *testing.T, env *ui.Env, g *pb.Game) *page {
	t.Helper()
	p := New(t.Context(), env, ui.Route{Watch: []string{g.GetId()}}).(*page)
	p.game.past.add(follow(&p.game.State, g)...)
	return p
}

// follow applies a snapshot of a game of 2048 to s, followed by 12 moves, and returns their events. The last move
// has the version and position of to.
func follow(s *gamestate.State, to *pb.Game) (events []*pb.Event) {
	live := client.Update{Connection: client.Connection{State: client.Live}}
	directions := []pb.Direction{
		pb.Direction_DIRECTION_LEFT, pb.Direction_DIRECTION_UP, pb.Direction_DIRECTION_LEFT, pb.Direction_DIRECTION_DOWN,
	}
	last := to.GetVersion()
	start := tuitest.Game(to.GetPosition().GetTwenty48())
	start.Id, start.Seats, start.Variant, start.Version = to.GetId(), to.GetSeats(), to.GetVariant(), last-12
	start.Position, start.Watchers = to.GetPosition(), to.GetWatchers()
	live.Game = start
	s.Update(live)
	events = append(events, eventOf(live))
	live.Game = nil
	for v := last - 11; v <= last; v++ {
		e := tuitest.Moved(v, directions[v%4], to.GetPosition().GetTwenty48(), 12340-(last-v)*8)
		e.GameId, e.Time = to.GetId(), timestamppb.New(to.GetUpdateTime().AsTime().Add(-time.Duration(last-v)*time.Second))
		e.GetMoved().Gained = []int32{0, 4, 128, 16}[v%4]
		e.GetMoved().GetSpawned().Index = 4
		e.GetPosition().MoveCount = v - 1
		live.Event = e
		s.Update(live)
		events = append(events, eventOf(live))
	}
	return events
}

// followTribolo applies a snapshot of a game of Tribolo to g, followed by its last move.
func followTribolo(t *testing.T, g *game) {
	t.Helper()
	ada := replay.Seat{Player: replay.Player{ID: tuitest.Me, Name: "ada"}}
	last := tuitest.Tribolo(t, g.Game.GetId(), 41, ada, replay.Seat{Bot: "greedy"}, replay.Seat{Bot: "minimax"})
	start, moved := translate.Game(last.State, 3), translate.Event(last)
	start.Version, moved.Version = 601, 613
	for _, update := range []client.Update{{Game: start}, {Event: moved}} {
		update.Connection.State = client.Live
		g.Update(update)
		g.past.add(eventOf(update))
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	tuitest.Golden(t, "tv", func(env *ui.Env) ui.Page {
		p := shown(t, env, tuitest.Game(tuitest.Board(4, 4)))
		p.chooser = &chooser{}
		return p
	})
	tuitest.Golden(t, "replay", func(env *ui.Env) ui.Page {
		p := shown(t, env, tuitest.Game(tuitest.Board(4, 4)))
		e := proto.CloneOf(p.game.past.events[609])
		e.Version, e.GetPosition().MoveCount = 307, 306
		p.game.past.add(e)
		p.game.show(307)
		return p
	})
	tuitest.Golden(t, "tribolo", func(env *ui.Env) ui.Page {
		p := New(t.Context(), env, ui.Route{Watch: []string{"triboloabcdefghijklmnopqrs"}}).(*page)
		followTribolo(t, p.game)
		p.game.show(613)
		return p
	})
	tuitest.Golden(t, "moment", func(env *ui.Env) ui.Page {
		env.Me = "" // a watcher
		p := shown(t, env, tuitest.Game(tuitest.Board(4, 4)))
		p.News = "★ clap ×12, fire"
		return p
	})
	tuitest.Golden(t, "wall", func(env *ui.Env) ui.Page {
		w := newWall(t.Context(), env, []string{"first", "second", "third", "fourth"}, false)
		for _, g := range w.games {
			to := tuitest.Game(tuitest.Board(4, 4))
			to.Id = g.Game.GetId()
			follow(g, to)
		}
		return w
	})
}
