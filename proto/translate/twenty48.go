package translate

import (
	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

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
