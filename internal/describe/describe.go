// Package describe puts games, their progress and their events into words, for the terminal client
// and for the pictures and titles of link previews. JavaScript exports the words to the web page,
// and a test in sitetest checks that the page's modules form the same sentences from them.
package describe

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gridstand/gridstand/internal/convert"
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

// Players lists the players' names: "ada", or "ada, greedy, minimax". name has the same meaning as in Actor.
func Players(g *pb.Game, name func(*pb.Seat) string) string {
	return strings.Join(convert.All(g.GetSeats(), name), ", ")
}

// Seat names the occupant of a seat, or returns "open" for an empty seat.
func Seat(seat *pb.Seat) string {
	switch who := seat.GetOccupant().(type) {
	case *pb.Seat_Player:
		return who.Player.GetName()
	case *pb.Seat_Bot:
		return who.Bot
	default:
		return words.Open
	}
}

// Bot returns the name of a bot and how it plays, if this program knows that.
func Bot(name string) string {
	if how := bots[name]; how != "" {
		return name + ": " + how
	}
	return name
}

// Score returns the score of a seat, or 0 if the seat does not exist.
func Score(g *pb.Game, seat int) int32 {
	if scores := g.GetPosition().GetScores(); seat >= 0 && seat < len(scores) {
		return scores[seat]
	}
	return 0
}

// LargestTile returns the highest tile on a board of 2048, or 0 if it is empty or nil.
func LargestTile(b *pb.Twenty48Board) int32 {
	return Highest(b.GetTiles())
}

// Highest returns the highest of some numbers, or 0 if there are none.
func Highest(all []int32) int32 { return slices.Max(append([]int32{0}, all...)) }

// Standing describes the game's progress in one line: "tile 2048, 1,025 moves".
func Standing(g *pb.Game) string {
	moves := Plural(g.GetPosition().GetMoveCount(), "move")
	if tile := LargestTile(g.GetPosition().GetTwenty48()); tile > 0 {
		return "tile " + strconv.Itoa(int(tile)) + ", " + moves
	}
	return moves
}

// Stage describes the status of the game, and how it ended if it is over: "No moves left".
func Stage(g *pb.Game) string {
	switch g.GetStatus() {
	case pb.GameStatus_GAME_STATUS_WAITING:
		return "Waiting for players"
	case pb.GameStatus_GAME_STATUS_ACTIVE:
		return "Live"
	}
	return Ending(g)
}

// Ending describes how a game ended: "No moves left".
func Ending(g *pb.Game) string {
	if ending, ok := endings[g.GetResult().GetReason()]; ok {
		return ending
	}
	return words.GameOver
}
