package translate

import (
	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
	"github.com/gridstand/gridstand/internal/convert"
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
func twenty48Board(v *game.Variant, p *twenty48.Position, legal []game.Move) *pb.Twenty48Board {
	return &pb.Twenty48Board{
		Rows: int32(v.Rows), Columns: int32(v.Columns), Tiles: p.Tiles(), GoalReached: p.GoalReached(),
		LegalMoves: convert.All(legal, func(move game.Move) pb.Direction { return pb.Direction(move.Direction) }),
	}
}
