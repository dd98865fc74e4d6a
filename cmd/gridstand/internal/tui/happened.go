package tui

import (
	"fmt"
	"strings"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Happened is what an event did, in a few words that are fit for a terminal;
// empty for the creation of a game. The game is the one that it happened in.
func Happened(g *pb.Game, e *pb.Event) string {
	if d := e.GetMoved().GetDirection(); d != none {
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
			return ownerNames[seatIndex(e)] + " " + CellName(c)
		}
		return arrow(a.Moved.GetDirection())
	case *pb.Event_Joined:
		return who + " sits down"
	case *pb.Event_Undone:
		return fmt.Sprintf("back to version %s", comma(a.Undone.GetToVersion()))
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

// seatIndex is the seat of an event as an index of ownerNames.
func seatIndex(e *pb.Event) int {
	if s := int(e.GetSeat()); s >= 0 && s < len(ownerNames) {
		return s
	}
	return 0
}

// actor is who sits there: by the colour where there are several seats.
func actor(g *pb.Game, seat int) string {
	switch {
	case seat < 0 || seat >= len(g.GetSeats()):
		return "?"
	case len(g.GetSeats()) > 1 && seat < len(ownerNames):
		return ownerNames[seat] + " " + seatName(g.GetSeats()[seat])
	default:
		return seatName(g.GetSeats()[seat])
	}
}
