package twenty48_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
)

// anyConfig generates rules for a board that is small enough to fill up.
func anyConfig(t *rapid.T) twenty48.Config {
	return twenty48.Config{
		Rows:            rapid.IntRange(2, 6).Draw(t, "rows"),
		Columns:         rapid.IntRange(2, 6).Draw(t, "columns"),
		Start:           rapid.SampledFrom([]twenty48.Start{twenty48.StartSpawned, twenty48.StartTwoTwos, twenty48.StartMiddleTwo}).Draw(t, "start"),
		FoursIn:         rapid.SampledFrom([]int{0, 1, 2, 10}).Draw(t, "fours in"),
		Goal:            rapid.SampledFrom([]int32{16, 64, 2048}).Draw(t, "goal"),
		EndsAtGoal:      rapid.Bool().Draw(t, "ends at goal"),
		SpawnsAfterGoal: rapid.Bool().Draw(t, "spawns after goal"),
		HalfScore:       rapid.Bool().Draw(t, "half score"),
		IdleMoves:       rapid.Bool().Draw(t, "idle moves"),
	}
}

// anyPosition generates a position of a game that has not reached its end at a goal: mostly with small
// tiles, so that many can merge, or full of the largest ones, which merge no more.
func anyPosition(t *rapid.T) (*twenty48.Rules, *twenty48.Position) {
	c := anyConfig(t)
	r := twenty48.New(c)
	faces := []int32{0, 0, 0, 2, 2, 2, 4, 4, 8, 8}
	if !c.EndsAtGoal {
		faces = append(faces, 1024, 2048, 4096, twenty48.MaxTile)
		faces = rapid.SampledFrom([][]int32{faces, faces, faces, {twenty48.MaxTile}}).Draw(t, "faces")
	}
	board := rapid.SliceOfN(rapid.SampledFrom(faces), c.Rows*c.Columns, c.Rows*c.Columns).
		Filter(func(b []int32) bool { return slices.Max(b) > 0 }).Draw(t, "board")
	p, err := r.Position(board, rapid.Int32Range(0, 1<<20).Draw(t, "score"), rapid.Int32Range(0, 1<<20).Draw(t, "moves"))
	require.NoError(t, err)
	return r, p
}

var everyDirection = []game.Direction{game.Up, game.Right, game.Down, game.Left}

// lineOf returns the cells of line i, starting at the edge toward which d slides.
func lineOf(board []int32, columns int, d game.Direction, i int) []int32 {
	var line []int32
	if d == game.Left || d == game.Right {
		line = slices.Clone(board[i*columns : (i+1)*columns])
	} else {
		for at := i; at < len(board); at += columns {
			line = append(line, board[at])
		}
	}
	if d == game.Right || d == game.Down {
		slices.Reverse(line)
	}
	return line
}

// TestProperty_Slide checks the slides of a board against the rules, and that exactly the legal ones are
// listed, in the fixed order.
func TestProperty_Slide(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r, p := anyPosition(t)
		var legal []game.Move
		for _, d := range everyDirection {
			next, change, err := r.Move(p, 0, game.Slide(d), seed(1).Draws(2))
			if err == nil {
				legal = append(legal, game.Slide(d))
				requireSlide(t, r, p, d, next, change)
				require.Equal(t, p.MoveCount()+1, next.MoveCount())
				still := slices.Equal(p.Tiles(), beforeSpawn(next, change))
				require.True(t, !still || r.Config().IdleMoves, "a legal move changed nothing")
				continue
			}
			require.ErrorIs(t, err, game.ErrIllegalMove)
			if p.Ended() != game.GoalReached { // The move is illegal, so it would change nothing.
				requireSlide(t, r, p, d, p, game.Change{})
			}
		}
		require.Equal(t, legal, p.LegalMoves())
	})
}

// requireSlide checks a slide line by line. The tiles of the slid line must account in order for all tiles
// of the original line: each for one tile, or for two equal tiles next to each other, which must merge.
func requireSlide(t *rapid.T, r *twenty48.Rules, p *twenty48.Position, d game.Direction, next game.Position, change game.Change) {
	columns, lines, merged := p.Grid().Columns, len(p.Tiles())/p.Grid().Columns, int32(0)
	if d == game.Up || d == game.Down {
		lines = columns
	}
	for i := range lines {
		before := lineOf(p.Tiles(), columns, d, i)
		before = slices.DeleteFunc(before, func(face int32) bool { return face == 0 })
		after := lineOf(beforeSpawn(next, change), columns, d, i)
		for _, face := range after {
			if face == 0 {
				continue
			}
			require.NotEmpty(t, before, "a tile came from nowhere")
			if len(before) > 1 && before[0] == before[1] && before[0] < twenty48.MaxTile {
				require.Equal(t, before[0]*2, face)
				merged += face
				before = before[2:]
			} else {
				require.Equal(t, before[0], face)
				before = before[1:]
			}
		}
		require.Empty(t, before, "a tile went missing")
		gap := slices.Index(after, 0)
		require.True(t, gap < 0 || slices.Max(after[gap:]) == 0, "a gap is left in %v", after)
	}
	if r.Config().HalfScore {
		merged /= 2
	}
	require.Equal(t, merged, change.Gained)
	require.Equal(t, p.Scores()[0]+merged, next.Scores()[0])
}

// TestProperty_Spawn checks that a move keeps the sum of the tiles except for the spawned tile,
// and that the spawn is drawn as the rules say: first the cell among the empty ones, then the
// value.
func TestProperty_Spawn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r, p := anyPosition(t)
		if p.Turn() == game.NoSeat {
			return
		}
		c := r.Config()
		m := rapid.SampledFrom(p.LegalMoves()).Draw(t, "move")
		s := seed(rapid.Byte().Draw(t, "seed"))
		d := s.Draws(7)
		next, change, err := r.Move(p, 0, m, d)
		require.NoError(t, err)
		slid := beforeSpawn(next, change)
		require.Equal(t, sum(p.Tiles()), sum(slid))

		reference := s.Draws(7)
		if won := c.EndsAtGoal && slices.Max(slid) >= c.Goal; won && !c.SpawnsAfterGoal {
			require.Nil(t, change.Spawned)
		} else {
			var empty []int32
			for i, face := range slid {
				if face == 0 {
					empty = append(empty, int32(i))
				}
			}
			want := game.Spawn{Index: empty[reference.Draw(len(empty))], Value: 2}
			if c.FoursIn > 0 && reference.Draw(c.FoursIn) < 1 {
				want.Value = 4
			}
			require.Equal(t, &want, change.Spawned)
			require.Equal(t, want.Value, next.(*twenty48.Position).Tiles()[want.Index])
		}
		require.Equal(t, reference.Draw(1<<30), d.Draw(1<<30), "not the same number of draws")
	})
}

func sum(tiles []int32) int64 {
	var s int64
	for _, face := range tiles {
		s += int64(face)
	}
	return s
}
