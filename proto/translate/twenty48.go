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
func twenty48Board(v *game.Variant, p *twenty48.Position, legal []game.Move) *pb.Twenty48Board {
	m := &pb.Twenty48Board{
		Rows: int32(v.Rows), Columns: int32(v.Columns), Tiles: p.Tiles(), GoalReached: p.GoalReached(),
	}
	for _, move := range legal {
		m.LegalMoves = append(m.LegalMoves, pb.Direction(move.Direction))
	}
	return m
}
