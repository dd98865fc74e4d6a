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
	"github.com/gridstand/gridstand/game/tribolo"
	"github.com/gridstand/gridstand/game/twenty48"
	"github.com/gridstand/gridstand/game/variants"
)

// A playthrough is the record of one game, as OpenSpiel keeps them: whatever
// alters a rule, a draw, a score or the order of legal moves shows as a
// difference in a text that people can read.

var update = flag.Bool("update", false, "play the playthroughs anew and write them to testdata")

const playthroughs = "testdata/playthroughs"

// playthroughSeed is the counting seed but for its first byte, chosen so that
// goodMove gets to 2048 wherever the board has room for it.
func playthroughSeed(t *testing.T) game.Seed {
	t.Helper()
	b := countingSeed(t).SeedBytes()
	b[0] = 3
	s, err := game.SeedFromBytes(b)
	require.NoError(t, err)
	return s
}

func TestPlaythroughs(t *testing.T) {
	t.Parallel()
	for _, v := range variants.All() {
		t.Run(v.ID, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(playthroughs, v.ID+".txt")
			if *update {
				moves := playOn(t, v, playthroughSeed(t))
				require.NoError(t, os.MkdirAll(playthroughs, 0o755))
				require.NoError(t, os.WriteFile(file, []byte(record(t, v, moves)), 0o644))
			}
			b, err := os.ReadFile(file)
			require.NoErrorf(t, err, "%s has no playthrough: run go test ./game/variants -update", v.ID)
			want := strings.Split(string(b), "\n")
			got := strings.Split(record(t, v, recordedMoves(string(b))), "\n")
			for i := range min(len(want), len(got)) {
				require.Equalf(t, want[i], got[i], "%s, line %d", file, i+1)
			}
			assert.Len(t, got, len(want), "number of lines of %s", file)
		})
	}
}

func TestPlaythroughs_NoneLeftOver(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(playthroughs, "*"))
	require.NoError(t, err)
	for _, file := range files {
		_, ok := variants.Current(strings.TrimSuffix(filepath.Base(file), ".txt"))
		assert.Truef(t, ok, "%s belongs to no variant", file)
	}
}

// shown reports whether the record of a game shows the position after a move:
// each at the beginning, a few of the middle, and the last ones.
func shown(move, moves int) bool {
	return move <= 40 || move%50 == 0 || move > moves-3
}

// record plays moves from the seed above and writes down what happens.
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
		// The game's creation is version 1, so its first move is version 2.
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

// Where the moves stand in a record.
const (
	movesLine   = "moves     "
	movesIndent = "          "
)

// recordedMoves reads the moves out of a record.
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

// notation is a move in one word.
func notation(m game.Move) string {
	if m.Direction != 0 {
		return m.Direction.String()
	}
	return fmt.Sprintf("%d,%d", m.Cell.X, m.Cell.Y)
}

// owners are the marks of what lies on a cell of Tribolo.
var owners = map[tribolo.Owner]string{
	tribolo.Empty: " .", tribolo.Wall: " #", tribolo.Blue: " B", tribolo.Red: " R", tribolo.Green: " G",
}

// describe writes all that the service shows of a position.
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
			if (i+1)%p.Columns() == 0 {
				w.WriteByte('\n')
			}
		}
		if p.GoalReached() {
			w.WriteString("the goal was reached\n")
		}
	case *tribolo.Position:
		for i, owner := range p.Cells() {
			w.WriteString(owners[owner])
			if (i+1)%tribolo.Columns == 0 {
				w.WriteByte('\n')
			}
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
