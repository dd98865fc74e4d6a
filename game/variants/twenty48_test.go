package variants_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
	"github.com/gridstand/gridstand/game/variants"
)

// table restates the rules of each variant, so that tests can compare the engine with them.
var table = []struct {
	id            string
	rows, columns int
	startTiles    int
	foursAtStart  bool
	foursIn       int // 0 means never
	ends          bool
	spawnsOnWin   bool
	twoTwos       int32 // score of merging two 2s
	idle          bool
}{
	{"classic", 4, 4, 2, true, 10, false, true, 4, false},
	{"twos", 4, 4, 1, false, 0, true, false, 2, false},
	{"restless", 4, 4, 2, false, 5, true, true, 4, true},
	{"vt100", 4, 4, 2, true, 6, true, true, 4, false},
	{"3x3", 3, 3, 2, true, 10, false, true, 4, false},
	{"5x5", 5, 5, 2, true, 10, false, true, 4, false},
	{"6x6", 6, 6, 2, true, 10, false, true, 4, false},
}

func TestTable_EveryVariantOf2048(t *testing.T) {
	t.Parallel()
	i := 0
	for _, v := range variants.All() {
		if v.Kind != game.Twenty48 {
			continue
		}
		require.Less(t, i, len(table))
		row := table[i]
		assert.Equal(t, row.id, v.ID)
		assert.Equal(t, row.rows, v.Rows, v.ID)
		assert.Equal(t, row.columns, v.Columns, v.ID)
		assert.Equal(t, 1, v.Seats, v.ID)
		i++
	}
	assert.Len(t, table, i)
}

// TestStartBoards checks the start boards that any correct implementation of the rules must produce
// from the same seed.
func TestStartBoards(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]map[int]int32{
		"classic":  {0: 2, 3: 4},
		"twos":     {10: 2},
		"restless": {0: 2, 12: 2},
		"vt100":    {0: 2, 3: 2},
	} {
		got := map[int]int32{}
		for i, face := range rules(t, id).Start(countingSeed(t).Draws(1)).(*twenty48.Position).Tiles() {
			if face != 0 {
				got[i] = face
			}
		}
		assert.Equal(t, want, got, id)
	}
}

func TestStartTiles(t *testing.T) {
	t.Parallel()
	for _, row := range table {
		fours := 0
		// Use the stream of a different version for each game.
		for version := range int32(100) {
			p := rules(t, row.id).Start(countingSeed(t).Draws(version)).(*twenty48.Position)
			assert.Len(t, empties(p.Tiles()), row.rows*row.columns-row.startTiles, row.id)
			assert.Zero(t, p.Score(), row.id)
			assert.Zero(t, p.MoveCount(), row.id)
			for _, face := range p.Tiles() {
				assert.Contains(t, []int32{0, 2, 4}, face, row.id)
				if face == 4 {
					fours++
				}
			}
		}
		assert.Equal(t, row.foursAtStart, fours > 0, row.id)
	}
	before := countingSeed(t).Draws(1)
	rules(t, "twos").Start(before)
	assert.Equal(t, countingSeed(t).Draws(1).Draw(1<<30), before.Draw(1<<30), "twos draws nothing at the start")
}

func TestSpawnOdds(t *testing.T) {
	t.Parallel()
	for _, row := range table {
		r := rules(t, row.id)
		p := board(t, r, 0, 2)
		for version := range int32(100) {
			next, change, err := r.Move(p, 0, game.Slide(game.Left), countingSeed(t).Draws(version))
			require.NoError(t, err)
			d := countingSeed(t).Draws(version)
			cells := empties(slid(next, change))
			want := game.Spawn{Index: cells[d.Draw(len(cells))], Value: 2}
			if row.foursIn > 0 && d.Draw(row.foursIn) < 1 {
				want.Value = 4
			}
			assert.Equal(t, &want, change.Spawned, row.id)
		}
	}
}

func TestMerge_Score(t *testing.T) {
	t.Parallel()
	for _, row := range table {
		r := rules(t, row.id)
		next, change, err := r.Move(board(t, r, 2, 2), 0, game.Slide(game.Left), countingSeed(t).Draws(2))
		require.NoError(t, err)
		assert.Equal(t, row.twoTwos, change.Gained, row.id)
		assert.Equal(t, []int32{row.twoTwos}, next.Scores(), row.id)
		_, change, err = r.Move(board(t, r, 512, 512), 0, game.Slide(game.Left), countingSeed(t).Draws(2))
		require.NoError(t, err)
		assert.Equal(t, 256*row.twoTwos, change.Gained, row.id)
	}
}

func TestMaking2048(t *testing.T) {
	t.Parallel()
	for _, row := range table {
		r := rules(t, row.id)
		p := board(t, r, 1024, 1024)
		assert.Empty(t, p.Winners(game.Resigned), row.id)
		next, change, err := r.Move(p, 0, game.Slide(game.Left), countingSeed(t).Draws(2))
		require.NoError(t, err)
		assert.Equal(t, row.spawnsOnWin, change.Spawned != nil, row.id)
		assert.True(t, next.(*twenty48.Position).GoalReached(), row.id)
		assert.Equal(t, []int{0}, next.Winners(game.GoalReached), row.id)
		if row.ends {
			assert.Equal(t, game.GoalReached, next.Ended(), row.id)
			assert.Empty(t, next.LegalMoves(), row.id)
			continue
		}
		assert.Equal(t, game.ReasonNone, next.Ended(), row.id)
		assert.Zero(t, next.Turn(), row.id)
	}
}

func TestMove_ChangesNothing(t *testing.T) {
	t.Parallel()
	for _, row := range table {
		r := rules(t, row.id)
		p := board(t, r, 2)
		next, change, err := r.Move(p, 0, game.Slide(game.Left), countingSeed(t).Draws(2))
		if !row.idle {
			require.ErrorIs(t, err, game.ErrIllegalMove, row.id)
			assert.Equal(t, []game.Move{game.Slide(game.Right), game.Slide(game.Down)}, p.LegalMoves(), row.id)
			continue
		}
		require.NoError(t, err)
		assert.Len(t, p.LegalMoves(), 4, row.id)
		assert.NotNil(t, change.Spawned, row.id)
		assert.Equal(t, p.Tiles(), slid(next, change), row.id)
		assert.EqualValues(t, 1, next.MoveCount(), row.id)
	}
}

// stuckBoard returns the faces of a full board without equal neighbors.
func stuckBoard(rows, columns int) []int32 {
	faces := make([]int32, rows*columns)
	for i := range faces {
		faces[i] = 2 << ((i/columns + i%columns) % 2)
	}
	return faces
}

func TestFullBoard(t *testing.T) {
	t.Parallel()
	for _, row := range table {
		r := rules(t, row.id)
		stuck := stuckBoard(row.rows, row.columns)
		p := board(t, r, stuck...)
		assert.Equal(t, game.NoMoves, p.Ended(), row.id)
		assert.Equal(t, game.NoSeat, p.Turn(), row.id)
		assert.Empty(t, p.Winners(game.NoMoves), row.id)

		// If the only pair of a full board is in its top row, even restless does not allow
		// moving up or down.
		pair := slices.Clone(stuck)
		pair[0], pair[1] = 8, 8
		p = board(t, r, pair...)
		assert.Equal(t, []game.Move{game.Slide(game.Right), game.Slide(game.Left)}, p.LegalMoves(), row.id)
		_, _, err := r.Move(p, 0, game.Slide(game.Up), countingSeed(t).Draws(2))
		require.ErrorIs(t, err, game.ErrIllegalMove, row.id)
	}
}

// TestLosingMove checks a move whose spawned tile leaves no legal move.
func TestLosingMove(t *testing.T) {
	t.Parallel()
	for _, row := range table {
		r := rules(t, row.id)
		faces := make([]int32, row.rows*row.columns)
		for i := range faces {
			// Adjacent rows have no values in common, so no equal tiles meet when the first row
			// shifts. None of the tiles is a 2 or a 4.
			faces[i] = 8 << (i/row.columns%2*2 + i%row.columns%2)
		}
		faces[0] = 0
		next, _, err := r.Move(board(t, r, faces...), 0, game.Slide(game.Left), countingSeed(t).Draws(2))
		require.NoError(t, err)
		assert.Equal(t, game.NoMoves, next.Ended(), row.id)
		assert.Empty(t, next.Winners(game.NoMoves), row.id)
	}
}
