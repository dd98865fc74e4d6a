package translate

import (
	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Direction is the rules' direction; false for none that they know.
func Direction(d pb.Direction) (game.Direction, bool) {
	if d < pb.Direction_DIRECTION_UP || d > pb.Direction_DIRECTION_RIGHT {
		return 0, false
	}
	return game.Direction(d), true
}

// The contract numbers directions as package game does.
func twenty48Board(p *twenty48.Position, legal []game.Move) *pb.Twenty48Board {
	m := &pb.Twenty48Board{
		Rows: int32(p.Rows()), Columns: int32(p.Columns()), Tiles: p.Tiles(), GoalReached: p.GoalReached(),
	}
	if len(legal) > 0 {
		m.LegalMoves = make([]pb.Direction, len(legal))
		for i, move := range legal {
			m.LegalMoves[i] = pb.Direction(move.Direction)
		}
	}
	return m
}
