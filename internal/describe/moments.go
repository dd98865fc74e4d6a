package describe

import (
	"fmt"
	"strconv"
	"strings"
)

// NewTile celebrates the first tile of a value in a game.
func NewTile(tile int32) string { return fmt.Sprintf(words.NewTile, strconv.Itoa(int(tile))) }

// NewBest celebrates a score that is higher than those of the reader's earlier games.
func NewBest() string { return words.NewBest }

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
