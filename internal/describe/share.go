package describe

import (
	"math/bits"
	"slices"
	"strings"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Result is a player's result in a challenge.
type Result struct {
	// Challenge is the challenge that was played.
	Challenge *pb.Challenge
	// Score is the score of the attempt. Tiles are the values on its last board, in any
	// order, with 0 for an empty cell.
	Score int32
	Tiles []int32
	// Rank is the place in the standings, or 0 if the attempt has none. Total is the number
	// of attempts in the standings.
	Rank, Total int32
	// DayStreak is the number of consecutive days on which the player has played the daily game, as
	// in Attempt.
	DayStreak int32
	// Link is the link to the challenge, or empty if it has none.
	Link string
}

// Share returns the text for sharing a result: one line, the largest tiles as colored
// squares, and the link. It does not reveal which tiles appeared or where.
func Share(r Result) string {
	lines := []string{
		"Gridstand " + kindWords(r.Challenge, "", "") + ": " +
			Phrases(Plural(r.Score, "point"), Place(r.Rank, r.Total), Streak(r.DayStreak)),
		Squares(r.Tiles), r.Link,
	}
	return strings.Join(slices.DeleteFunc(lines, func(s string) bool { return s == "" }), "\n")
}

// Phrases joins the phrases that are not empty.
func Phrases(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), ", ")
}

// maxSquares is the maximum number of tiles that Squares shows.
const maxSquares = 8

// Squares shows the largest tiles of a board in descending order, in colors close to those of
// the board.
func Squares(tiles []int32) string {
	sorted := slices.Clone(tiles)
	slices.SortFunc(sorted, func(a, b int32) int { return int(b) - int(a) })
	var row strings.Builder
	for _, face := range sorted[:min(len(sorted), maxSquares)] {
		if face >= 2 {
			row.WriteRune(squares[min(bits.Len32(uint32(face))-2, len(squares)-1)])
		}
	}
	return row.String()
}
