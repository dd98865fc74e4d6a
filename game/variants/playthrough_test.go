package variants_test

import (
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/internal/gametest"
	"github.com/gridstand/gridstand/game/tribolo"
	"github.com/gridstand/gridstand/game/twenty48"
	"github.com/gridstand/gridstand/game/variants"
)

// A playthrough is the record of one game, as in OpenSpiel. A change in a rule, a draw, a score or
// the order of legal moves shows up as a readable diff.

var update = flag.Bool("update", false, "play the recorded moves again, or other ones of a variant without a record, and write the playthroughs")

const playthroughs = "testdata/playthroughs"

// playthroughSeed returns the counting seed with another first byte, chosen so that the recorded games
// reach 2048 on every board that is large enough.
func playthroughSeed(t *testing.T) game.Seed {
	t.Helper()
	b := gametest.CountingSeed().SeedBytes()
	b[0] = 3
	return gametest.SeedOf(b)
}

func TestPlaythroughs(t *testing.T) {
	t.Parallel()
	for _, v := range variants.All() {
		file := filepath.Join(playthroughs, v.ID+".txt")
		b, err := os.ReadFile(file)
		if *update {
			moves := recordedMoves(string(b))
			if err != nil {
				moves = playOn(t, v, playthroughSeed(t))
			}
			b, err = []byte(record(t, v, moves)), os.MkdirAll(playthroughs, 0o755)
			require.NoError(t, err, v.ID)
			err = os.WriteFile(file, b, 0o644)
		}
		require.NoErrorf(t, err, "%s has no playthrough: run go test ./game/variants -update", v.ID)
		want := strings.Split(string(b), "\n")
		got := strings.Split(record(t, v, recordedMoves(string(b))), "\n")
		for i := range min(len(want), len(got)) {
			require.Equalf(t, want[i], got[i], "%s, line %d", file, i+1)
		}
		assert.Len(t, got, len(want), "number of lines of %s", file)
	}
}

// maxMoves limits the number of recorded moves, because some games would not end.
const maxMoves = 3000

// playOn plays a variant's game for its first record, and returns its moves. Moves that were played well,
// so that the record contains large tiles, may then replace them in the file.
func playOn(t *testing.T, v game.Variant, s game.Seed) []string {
	t.Helper()
	var names []string
	p := v.Rules.Start(s.Draws(1))
	for p.Turn() != game.NoSeat && len(names) < maxMoves {
		m := p.LegalMoves()[0]
		names = append(names, notation(m))
		var err error
		p, _, err = v.Rules.Move(p, p.Turn(), m, s.Draws(int32(len(names)+1)))
		require.NoError(t, err)
	}
	return names
}

// shown reports whether the record of a game shows the position after a move: it shows all
// positions at the beginning, a few in the middle, and the last ones.
func shown(move, moves int) bool {
	return move <= 40 || move%50 == 0 || move > moves-3
}

// record plays moves with playthroughSeed and returns the record of the game.
func record(t *testing.T, v game.Variant, moves []string) string {
	t.Helper()
	s := playthroughSeed(t)
	var w strings.Builder
	fmt.Fprintf(&w, "One game of %s, move by move. Written by: go test ./game/variants -update\n\n", v.ID)
	fmt.Fprintf(&w, "variant   %s, revision %d\n", v.ID, v.Revision)
	fmt.Fprintf(&w, "board     %d×%d, %d seats\n", v.Rows, v.Columns, v.Seats)
	fmt.Fprintf(&w, "seed      %s\n", hex.EncodeToString(s.SeedBytes()))
	fmt.Fprintf(&w, "%s%d\n", movesLine, len(moves))
	for row := range slices.Chunk(moves, 16) {
		fmt.Fprintf(&w, "%s%s\n", movesIndent, strings.Join(row, " "))
	}
	p := v.Rules.Start(s.Draws(1))
	fmt.Fprintf(&w, "\n== start\n%s", describe(t, p))
	for i, name := range moves {
		legal := p.LegalMoves()
		at := slices.IndexFunc(legal, func(m game.Move) bool { return notation(m) == name })
		require.GreaterOrEqualf(t, at, 0, "%s, move %d: %s is not legal", v.ID, i+1, name)
		// Version 1 creates the game, so its first move is version 2.
		next, change, err := v.Rules.Move(p, p.Turn(), legal[at], s.Draws(int32(i+2)))
		require.NoErrorf(t, err, "%s, move %d", v.ID, i+1)
		if shown(i+1, len(moves)) {
			fmt.Fprintf(&w, "\n== move %d: %s\n", i+1, name)
			if change.Spawned != nil {
				fmt.Fprintf(&w, "spawned   %d in cell %d\n", change.Spawned.Value, change.Spawned.Index)
			}
			if len(change.Taken) > 0 {
				fmt.Fprintf(&w, "taken     %v\n", change.Taken)
			}
			fmt.Fprintf(&w, "gained    %d\n%s", change.Gained, describe(t, next))
		}
		p = next
	}
	return w.String()
}

// In a record, the first line of the list of moves begins with movesLine. The other lines of
// the list begin with movesIndent.
const (
	movesLine   = "moves     "
	movesIndent = "          "
)

// recordedMoves extracts the moves from a record.
func recordedMoves(text string) []string {
	_, after, _ := strings.Cut(text, "\n"+movesLine)
	var moves []string
	for _, line := range strings.Split(after, "\n")[1:] {
		row, ok := strings.CutPrefix(line, movesIndent)
		if !ok {
			break
		}
		moves = append(moves, strings.Fields(row)...)
	}
	return moves
}

// notation returns m as one word, as the record shows it.
func notation(m game.Move) string {
	if m.Direction != 0 {
		return m.Direction.String()
	}
	return fmt.Sprintf("%d,%d", m.Cell.X, m.Cell.Y)
}

// describe formats everything that the service shows about a position.
func describe(t *testing.T, p game.Position) string {
	t.Helper()
	var w strings.Builder
	switch p := p.(type) {
	case *twenty48.Position:
		for i, face := range p.Tiles() {
			cell := fmt.Sprint(face)
			if face == 0 {
				cell = "."
			}
			fmt.Fprintf(&w, "%6s", cell)
			if (i+1)%p.Grid().Columns == 0 {
				w.WriteByte('\n')
			}
		}
		if p.GoalReached() {
			w.WriteString("the goal was reached\n")
		}
	case *tribolo.Position:
		for row := range strings.Lines(p.Board().String()) {
			w.WriteString(" " + row)
		}
	default:
		require.Failf(t, "no picture", "describe does not know how to draw a %T", p)
	}
	fmt.Fprintf(&w, "scores    %v\n", p.Scores())
	if p.Turn() == game.NoSeat {
		fmt.Fprintf(&w, "ended     %s, winners %v\n", p.Ended(), p.Winners(p.Ended()))
		return w.String()
	}
	var legal []string
	for _, m := range p.LegalMoves() {
		legal = append(legal, notation(m))
	}
	fmt.Fprintf(&w, "turn      seat %d: %s\n", p.Turn(), strings.Join(legal, " "))
	return w.String()
}
