package watch

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// shown returns a game's page after several moves.
func shown(t *testing.T, env *ui.Env, g *pb.Game) *page {
	t.Helper()
	p := New(t.Context(), env, ui.Route{Watch: []string{g.GetId()}}).(*page)
	follow(p.game, g)
	return p
}

// follow applies a snapshot to g, followed by 12 moves of 2048 or one move of Tribolo.
// The last move has the version and position of to.
func follow(g *game, to *pb.Game) {
	live := client.Update{Connection: client.Connection{State: client.Live}}
	directions := []pb.Direction{
		pb.Direction_DIRECTION_LEFT, pb.Direction_DIRECTION_UP, pb.Direction_DIRECTION_LEFT, pb.Direction_DIRECTION_DOWN,
	}
	last := to.GetVersion()
	start := tuitest.Game(to.GetPosition().GetTwenty48())
	start.Id, start.Seats, start.Variant, start.Version = to.GetId(), to.GetSeats(), to.GetVariant(), last-12
	start.Position, start.Watchers = to.GetPosition(), to.GetWatchers()
	live.Game = start
	g.state.Update(live, tuitest.Noon)
	g.past.add(eventOf(live))
	live.Game = nil
	for v := last - 11; v <= last && to.GetPosition().GetTwenty48() != nil; v++ {
		e := tuitest.Moved(v, directions[v%4], to.GetPosition().GetTwenty48(), 12340-(last-v)*8)
		e.GameId, e.Time = to.GetId(), timestamppb.New(to.GetUpdateTime().AsTime().Add(-time.Duration(last-v)*time.Second))
		e.GetMoved().Gained = []int32{0, 4, 128, 16}[v%4]
		e.GetMoved().GetSpawned().Index = 4
		e.GetPosition().MoveCount = v - 1
		live.Event = e
		g.state.Update(live, tuitest.Noon)
		g.past.add(eventOf(live))
	}
	live.Event = nil
	if to.GetPosition().GetTribolo() != nil {
		seat := int32(0)
		live.Event = &pb.Event{
			GameId: to.GetId(), Version: last, Seat: &seat, Position: to.GetPosition(), Time: to.GetUpdateTime(), Ranked: true,
			Action: &pb.Event_Moved{Moved: &pb.Moved{
				Move: &pb.Moved_Cell{Cell: &pb.Cell{X: 4, Y: 4}}, Taken: []*pb.Cell{{X: 4, Y: 2}, {X: 4, Y: 3}},
			}},
		}
		g.state.Update(live, tuitest.Noon)
		g.past.add(eventOf(live))
		live.Event = nil
	}
}

// tribolo returns a game of Tribolo in progress.
func tribolo() *pb.Game {
	b := &pb.TriboloBoard{Rows: 11, Columns: 16}
	for i := range 11 * 16 {
		state := pb.CellState_CELL_STATE_EMPTY
		switch row, column := i/16, i%16; {
		case row == 3 && column%5 == 2, row == 8 && column%7 == 3:
			state = pb.CellState_CELL_STATE_WALL
		case row+column < 9 && row*column > 3:
			state = pb.CellState_CELL_STATE_BLUE
		case row > 5 && column < 9 && row-column < 5:
			state = pb.CellState_CELL_STATE_RED
		case row > 3 && column > 9 && row+column < 21:
			state = pb.CellState_CELL_STATE_GREEN
		}
		b.Cells = append(b.Cells, state)
	}
	b.LegalMoves = []*pb.TriboloMove{{Cell: &pb.Cell{X: 12, Y: 4}, Taken: []*pb.Cell{{X: 11, Y: 5}, {X: 10, Y: 6}}}}
	turn := int32(1)
	g := tuitest.Game(nil)
	g.Id, g.Variant = "triboloabcdefghijklmnopqrs", "tribolo"
	g.Seats = append(g.Seats, &pb.Seat{Occupant: &pb.Seat_Bot{Bot: "greedy"}}, &pb.Seat{Occupant: &pb.Seat_Bot{Bot: "minimax"}})
	g.Position = &pb.Position{MoveCount: 41, Scores: []int32{47, 36, 71}, Turn: &turn, Board: &pb.Position_Tribolo{Tribolo: b}}
	return g
}

func TestGolden(t *testing.T) {
	t.Parallel()
	tuitest.Golden(t, "tv", func(env *ui.Env) ui.Page {
		p := shown(t, env, tuitest.Game(tuitest.Board(4, 4)))
		p.chooser = &chooser{why: "the most watched live game"}
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
	tuitest.Golden(t, "curve", func(env *ui.Env) ui.Page {
		p := shown(t, env, tuitest.Game(tuitest.Board(4, 4)))
		p.game.curve = someCurve(1, 2048)
		p.game.show(602)
		return p
	})
	tuitest.Golden(t, "curve-tribolo", func(env *ui.Env) ui.Page {
		p := shown(t, env, tribolo())
		p.game.curve = someCurve(3, 0)
		p.game.show(613)
		return p
	})
	tuitest.Golden(t, "moment", func(env *ui.Env) ui.Page {
		env.Me = "" // a watcher
		p := shown(t, env, tuitest.Game(tuitest.Board(4, 4)))
		p.game.state.Moment.Text, p.game.state.Reactions.Text = "2048!", "★ clap ×12, fire"
		return p
	})
	tuitest.Golden(t, "wall", func(env *ui.Env) ui.Page {
		return someWall(t, env)
	})
}

// someCurve returns the scores of a game at version 613, whose tiles doubled at ever later moves up to
// the given one.
func someCurve(seats int, largest int32) curve {
	c := curve{asked: true}
	for v := int32(1); v <= 613; v++ {
		e := &pb.Event{Version: v, Position: &pb.Position{MoveCount: v - 1}}
		for seat := range int32(seats) {
			e.Position.Scores = append(e.Position.Scores, v*v/int32(100)+v*(seat*37%100)/8)
		}
		if tile := min(int32(4)<<(v/70), largest); tile > 0 {
			e.Position.Board = &pb.Position_Twenty48{Twenty48: &pb.Twenty48Board{Tiles: []int32{tile}}}
		}
		c.add(e)
	}
	return c
}

// someWall returns a wall with three games of 2048 and one of Tribolo.
func someWall(t *testing.T, env *ui.Env) *wall {
	t.Helper()
	w := newWall(t.Context(), env, []string{"first", "second", "third", "fourth"})
	for i, name := range []string{"ada", "bob", "Grace Hopper"} {
		g := tuitest.Game(tuitest.Board(4, 4))
		if i == 1 {
			g = tuitest.Game(tuitest.Board(5, 5))
			g.Variant = "5x5"
			g.UpdateTime = timestamppb.New(tuitest.Noon.Add(-13 * time.Minute))
		}
		g.Id, g.Seats[0].GetPlayer().Name = w.games[i].id, name
		follow(w.games[i], g)
	}
	g := tribolo()
	g.Id = w.games[3].id
	follow(w.games[3], g)
	return w
}
