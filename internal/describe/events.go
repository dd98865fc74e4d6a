package describe

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gridstand/gridstand/internal/convert"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Actor names a seat, with its color if the game has several seats: "red greedy". name returns
// the name to show for a seat's occupant; for the usual names, pass Seat.
func Actor(g *pb.Game, seat int, name func(*pb.Seat) string) string {
	switch {
	case seat < 0 || seat >= len(g.GetSeats()):
		return "?"
	case len(g.GetSeats()) > 1 && seat < len(Colors):
		return strings.TrimSpace(Colors[seat] + " " + name(g.GetSeats()[seat]))
	default:
		return name(g.GetSeats()[seat])
	}
}

// Winners names the winners of a finished game with several seats. It returns "" for any other
// game. name has the same meaning as in Actor.
func Winners(g *pb.Game, name func(*pb.Seat) string) string {
	if g.GetResult() == nil || len(g.GetSeats()) < 2 {
		return ""
	}
	names := convert.All(g.GetResult().GetWinners(), func(w int32) string { return Actor(g, int(w), name) })
	switch len(names) {
	case 0:
		return words.NoWinner
	case 1:
		return fmt.Sprintf(words.Wins, names[0])
	default:
		return fmt.Sprintf(words.ShareWin, strings.Join(names, words.And))
	}
}

// Outcome describes how a game ended for the player of a seat, or for a watcher if seat is negative:
// the title "You win" or "Game over", and the reason, such as "no moves left". In a game with one
// seat, players and watchers see the same. name has the same meaning as in Actor.
func Outcome(g *pb.Game, seat int, name func(*pb.Seat) string) (title, reason string, won bool) {
	if len(g.GetSeats()) == 1 {
		seat = 0
	}
	winners := g.GetResult().GetWinners()
	won = slices.Contains(winners, int32(seat))
	title, reason = words.GameOver, strings.ToLower(Ending(g))
	if won {
		title = words.YouWin
	}
	if len(g.GetSeats()) > 1 && g.GetResult().GetReason() == pb.Result_REASON_RESIGNED {
		reason = words.OthersResigned
	}
	if who := Winners(g, name); who != "" && len(winners) > 0 && !(won && len(winners) == 1) {
		reason = who + ", " + reason
	}
	return title, reason, won
}

// Happened describes what an event did. It returns "" for the creation of the game. name has the
// same meaning as in Actor.
func Happened(g *pb.Game, e *pb.Event, name func(*pb.Seat) string) string {
	seat := int(e.GetSeat())
	who := Actor(g, seat, name)
	switch a := e.GetAction().(type) {
	case *pb.Event_Moved:
		if c := a.Moved.GetCell(); c != nil {
			return Colors[max(seat, 0)%len(Colors)] + " " + Cell(c)
		}
		return strings.ToLower(strings.TrimPrefix(a.Moved.GetDirection().String(), "DIRECTION_"))
	case *pb.Event_Joined:
		return fmt.Sprintf(words.Joins, who)
	case *pb.Event_Undone:
		return fmt.Sprintf(words.UndoneTo, Comma(e.GetPosition().GetMoveCount()))
	case *pb.Event_Resigned:
		return fmt.Sprintf(words.Resigns, who)
	case *pb.Event_TimedOut:
		return fmt.Sprintf(words.RanOut, who)
	case *pb.Event_ClockExtended:
		return fmt.Sprintf(words.Extended, who, strconv.FormatInt(a.ClockExtended.GetBy().GetSeconds(), 10))
	case *pb.Event_Abandoned:
		return words.Abandoned
	default:
		return ""
	}
}
