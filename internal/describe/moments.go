package describe

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// NewTile celebrates the first tile of a value in a game.
func NewTile(tile int32) string { return fmt.Sprintf(words.NewTile, strconv.Itoa(int(tile))) }

// NewBest celebrates a score that is higher than those of the player's earlier games. name is
// the player's, or "" for the reader's own score.
func NewBest(name string) string {
	if name == "" {
		return words.NewBest
	}
	return fmt.Sprintf(words.NewBestOf, name)
}

// SecondsLeft says that a race ends soon.
func SecondsLeft(n int) string { return fmt.Sprintf(words.SecondsLeft, strconv.Itoa(n)) }

// Overtaking says who overtakes the player of the game own in a race, or whom that player overtakes.
// If own is "", it says who takes the lead. It returns "" if no place has changed. name returns the
// name of a line's player or bot.
func Overtaking(before, after []*pb.Standing, own string, name func(*pb.Standing) string) string {
	if len(before) == 0 || before[0].GetScore() == 0 {
		return ""
	}
	ahead := func(lines []*pb.Standing) []*pb.Standing {
		n := min(1, len(lines))
		if own != "" {
			n = max(slices.IndexFunc(lines, func(s *pb.Standing) bool { return s.GetGameId() == own }), 0)
		}
		return lines[:n]
	}
	// added returns the name of the first line in some whose game is not in others.
	added := func(some, others []*pb.Standing) string {
		for _, s := range some {
			if !slices.ContainsFunc(others, func(o *pb.Standing) bool { return o.GetGameId() == s.GetGameId() }) {
				return name(s)
			}
		}
		return ""
	}
	passing, passed := added(ahead(after), ahead(before)), added(ahead(before), ahead(after))
	switch {
	case passing != "" && own == "":
		return fmt.Sprintf(words.Leads, passing)
	case passing != "":
		return fmt.Sprintf(words.Overtakes, passing)
	case passed != "" && own != "":
		return fmt.Sprintf(words.Overtaken, passed)
	}
	return ""
}

// Reacted describes the reactions of watchers: "clap ×3, fire". counts is in the order of Reactions.
func Reacted(counts []int32) string {
	var all []string
	for i, n := range counts[:min(len(counts), len(Reactions))] {
		switch {
		case n == 1:
			all = append(all, Reactions[i])
		case n > 1:
			all = append(all, Reactions[i]+" ×"+Comma(n))
		}
	}
	return strings.Join(all, ", ")
}
