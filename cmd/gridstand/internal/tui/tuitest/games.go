package tuitest

import (
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/game/replay"
	replaytest "github.com/gridstand/gridstand/internal/testkit/replay"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// GameID is the id of the game in these tests.
const GameID = "kx3fq2abcdefghijklmnopqrst"

// Board returns a board of the given size in the middle of a game.
func Board(rows, columns int) *pb.Twenty48Board {
	faces := []int32{2, 0, 0, 4, 16, 0, 2, 8, 32, 64, 4, 16, 1024, 256, 128, 8, 2, 0, 512, 4}
	b := &pb.Twenty48Board{
		Rows: int32(rows), Columns: int32(columns),
		LegalMoves: []pb.Direction{
			pb.Direction_DIRECTION_UP, pb.Direction_DIRECTION_DOWN,
			pb.Direction_DIRECTION_LEFT, pb.Direction_DIRECTION_RIGHT,
		},
	}
	for i := range rows * columns {
		b.Tiles = append(b.Tiles, faces[i%len(faces)])
	}
	return b
}

// Game returns a ranked game that ada (the user) plays, at version 613. Its last move was
// 4 s before Noon.
func Game(b *pb.Twenty48Board) *pb.Game {
	return &pb.Game{
		Id: GameID, Variant: "classic", Version: 613, Ranked: true, Watchers: 3, RulesRevision: 1,
		Status:     pb.GameStatus_GAME_STATUS_ACTIVE,
		Seats:      []*pb.Seat{{Occupant: &pb.Seat_Player{Player: &pb.Player{Id: Me, Name: "ada"}}}},
		Position:   &pb.Position{MoveCount: 612, Scores: []int32{12340}, Board: &pb.Position_Twenty48{Twenty48: b}},
		UpdateTime: timestamppb.New(Noon.Add(-4 * time.Second)),
		CreateTime: timestamppb.New(Noon.Add(-10 * time.Minute)),
	}
}

// Tribolo returns the last event of a game of Tribolo with the given number of moves. The last one was 12 s
// before Noon.
func Tribolo(t testing.TB, id string, moves int, seats ...replay.Seat) *replay.Event {
	t.Helper()
	return replaytest.Tribolo(t, id, moves, Noon, seats...)
}

// Moved returns an event for a move in Game.
func Moved(version int32, d pb.Direction, b *pb.Twenty48Board, score int32) *pb.Event {
	return &pb.Event{
		GameId: GameID, Version: version, Ranked: true, Time: timestamppb.New(Noon),
		Position: &pb.Position{MoveCount: version - 1, Scores: []int32{score}, Board: &pb.Position_Twenty48{Twenty48: b}},
		Action: &pb.Event_Moved{Moved: &pb.Moved{
			Move: &pb.Moved_Direction{Direction: d}, Gained: 4, Spawned: &pb.Spawn{Index: 0, Value: 2},
		}},
	}
}

// Ended returns the last event of Game.
func Ended(version int32, reason pb.Result_Reason) *pb.Event {
	e := Moved(version, pb.Direction_DIRECTION_UP, Board(4, 4), 12340)
	if reason == pb.Result_REASON_RESIGNED {
		e.Action = &pb.Event_Resigned{Resigned: &pb.Resigned{}}
	}
	e.GetPosition().GetTwenty48().LegalMoves = nil
	e.Result = &pb.Result{Reason: reason, Scores: []int32{12340}}
	return e
}

// Variants returns some of the variants that a server offers.
func Variants() []*pb.Variant {
	return []*pb.Variant{
		{
			Id: "classic", Title: "2048", Summary: "4×4, a new tile is a 2 or a 4", Kind: pb.Kind_KIND_TWENTY48,
			Rows: 4, Columns: 4, Seats: 1, Bots: []string{"greedy", "expectimax"},
			Rules: "Slide all tiles in one direction. Two equal tiles that meet become one of twice the value.",
		},
		{Id: "6x6", Title: "6×6", Summary: "6×6, a new tile is a 2 or a 4", Kind: pb.Kind_KIND_TWENTY48, Rows: 6, Columns: 6, Seats: 1, Bots: []string{"greedy"}},
		{
			Id: "tribolo", Title: "Tribolo", Summary: "three players, 19×19", Kind: pb.Kind_KIND_TRIBOLO,
			Rows: 19, Columns: 19, Seats: 3, Bots: []string{"random", "greedy", "minimax"},
			Rules: "Jump over a line of other players' cells to one of your own; all between become yours.",
		},
	}
}
