package gamestate

import (
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Happened describes an event of a game in a few words, sanitized for the terminal. It
// returns "" for the creation of the game.
func Happened(g *pb.Game, e *pb.Event) string { return describe.Happened(g, e, SeatName) }

// happened is like Happened, but with arrows for directions.
func happened(g *pb.Game, e *pb.Event) string {
	if m := e.GetMoved(); m != nil && m.GetCell() == nil {
		return arrow(m.GetDirection())
	}
	return Happened(g, e)
}

// arrow returns the arrow for a direction.
func arrow(d pb.Direction) string {
	switch d {
	case pb.Direction_DIRECTION_UP:
		return "↑"
	case pb.Direction_DIRECTION_DOWN:
		return "↓"
	case pb.Direction_DIRECTION_LEFT:
		return "←"
	case pb.Direction_DIRECTION_RIGHT:
		return "→"
	default:
		return "·"
	}
}
