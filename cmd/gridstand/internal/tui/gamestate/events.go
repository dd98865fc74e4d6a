package gamestate

import (
	"fmt"
	"strings"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Happened says what an event of a game did, in a few words that are safe for a terminal;
// empty for the creation of the game.
func Happened(g *pb.Game, e *pb.Event) string {
	if d := e.GetMoved().GetDirection(); d != pb.Direction_DIRECTION_UNSPECIFIED {
		return strings.ToLower(strings.TrimPrefix(d.String(), "DIRECTION_"))
	}
	return happened(g, e)
}

// happened is Happened with arrows for directions.
func happened(g *pb.Game, e *pb.Event) string {
	who := actor(g, int(e.GetSeat()))
	switch a := e.GetAction().(type) {
	case *pb.Event_Moved:
		if c := a.Moved.GetCell(); c != nil {
			return board.OwnerNames[seatIndex(e)] + " " + board.CellName(c)
		}
		return arrow(a.Moved.GetDirection())
	case *pb.Event_Joined:
		return who + " sits down"
	case *pb.Event_Undone:
		return "undone, back to move " + Comma(e.GetPosition().GetMoveCount())
	case *pb.Event_Resigned:
		return who + " gives up"
	case *pb.Event_TimedOut:
		return who + " ran out of time"
	case *pb.Event_ClockExtended:
		return fmt.Sprintf("%s gets %.0f s back", who, a.ClockExtended.GetBy().AsDuration().Seconds())
	case *pb.Event_Abandoned:
		return "abandoned"
	default:
		return ""
	}
}

// seatIndex is the seat of an event as an index of board.OwnerNames.
func seatIndex(e *pb.Event) int {
	if s := int(e.GetSeat()); s >= 0 && s < len(board.OwnerNames) {
		return s
	}
	return 0
}

// actor is the name of a seat's occupant, with the color if the game has several seats.
func actor(g *pb.Game, seat int) string {
	switch {
	case seat < 0 || seat >= len(g.GetSeats()):
		return "?"
	case len(g.GetSeats()) > 1 && seat < len(board.OwnerNames):
		return board.OwnerNames[seat] + " " + SeatName(g.GetSeats()[seat])
	default:
		return SeatName(g.GetSeats()[seat])
	}
}

// arrow draws a direction.
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
