package translate

import (
	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Direction returns the rules' direction, and false if there is no such direction.
func Direction(d pb.Direction) (game.Direction, bool) {
	if d < pb.Direction_DIRECTION_UP || d > pb.Direction_DIRECTION_RIGHT {
		return 0, false
	}
	return game.Direction(d), true
}

// The contract and package game use the same numbers for the directions.
func twenty48Board(p *twenty48.Position, legal []game.Move) *pb.Position_Twenty48 {
	made := &struct {
		position pb.Position_Twenty48
		board    pb.Twenty48Board
		legal    [4]pb.Direction
	}{
		board: pb.Twenty48Board{
			Rows: int32(p.Rows()), Columns: int32(p.Columns()), Tiles: p.Tiles(), GoalReached: p.GoalReached(),
		},
	}
	if len(legal) > 0 {
		made.board.LegalMoves = made.legal[:0]
		for _, move := range legal {
			made.board.LegalMoves = append(made.board.LegalMoves, pb.Direction(move.Direction))
		}
	}
	made.position.Twenty48 = &made.board
	return &made.position
}
