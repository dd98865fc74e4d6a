// Package describe says in words what a game is and how it stands, for the terminal client
// and for the pictures and titles of link previews.
package describe

import (
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Variant names the game and its variant: "2048 classic".
func Variant(g *pb.Game) string {
	switch {
	case g.GetPosition().GetTwenty48() != nil:
		return "2048 " + g.GetVariant()
	case g.GetVariant() == "tribolo":
		return "Tribolo"
	default:
		return g.GetVariant()
	}
}

// Players names who plays: "ada", or "ada, greedy, minimax".
func Players(g *pb.Game) string {
	var names []string
	for _, seat := range g.GetSeats() {
		names = append(names, Seat(seat))
	}
	return strings.Join(names, ", ")
}

// Seat names the occupant of a seat, "open" if there is none.
func Seat(seat *pb.Seat) string {
	switch who := seat.GetOccupant().(type) {
	case *pb.Seat_Player:
		return who.Player.GetName()
	case *pb.Seat_Bot:
		return who.Bot
	default:
		return "open"
	}
}

// Score returns the points of a seat.
func Score(g *pb.Game, seat int) int32 {
	if scores := g.GetPosition().GetScores(); seat >= 0 && seat < len(scores) {
		return scores[seat]
	}
	return 0
}

// BestTile returns the highest tile of a game of 2048, 0 if there is none.
func BestTile(g *pb.Game) int32 {
	var best int32
	for _, face := range g.GetPosition().GetTwenty48().GetTiles() {
		best = max(best, face)
	}
	return best
}

// Standing is the game's progress in one line: "tile 2048, 1,025 moves".
func Standing(g *pb.Game) string {
	moves := Plural(g.GetPosition().GetMoveCount(), "move")
	if tile := BestTile(g); tile > 0 {
		return "tile " + strconv.Itoa(int(tile)) + ", " + moves
	}
	return moves
}

// Stage says whether the game waits, is live or how it ended: "No moves left".
func Stage(g *pb.Game) string {
	switch g.GetStatus() {
	case pb.GameStatus_GAME_STATUS_WAITING:
		return "Waiting for players"
	case pb.GameStatus_GAME_STATUS_ACTIVE:
		return "Live"
	}
	return Ending(g)
}

// Ending says how a game ended: "No moves left".
func Ending(g *pb.Game) string {
	switch g.GetResult().GetReason() {
	case pb.Result_REASON_GOAL_REACHED:
		return "2048!"
	case pb.Result_REASON_NO_MOVES:
		return "No moves left"
	case pb.Result_REASON_RESIGNED:
		return "Given up"
	case pb.Result_REASON_TIMED_OUT:
		return "Out of time"
	case pb.Result_REASON_ABANDONED:
		return "Abandoned"
	default:
		return "Game over"
	}
}

// Winners says who won a finished game with several seats, empty for any other.
func Winners(g *pb.Game) string {
	if g.GetResult() == nil || len(g.GetSeats()) < 2 {
		return ""
	}
	var names []string
	for _, w := range g.GetResult().GetWinners() {
		if w >= 0 && int(w) < len(g.GetSeats()) {
			names = append(names, Seat(g.GetSeats()[w]))
		}
	}
	switch len(names) {
	case 0:
		return "Nobody wins"
	case 1:
		return names[0] + " wins"
	default:
		return strings.Join(names, " and ") + " share the win"
	}
}

// Comma formats a number with thousands separators.
func Comma(n int32) string { return humanize.Comma(int64(n)) }

// Plural formats a number of things: "1 move", "1,025 moves".
func Plural(n int32, thing string) string {
	return Comma(n) + " " + english.PluralWord(int(n), thing, "")
}
