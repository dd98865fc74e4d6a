package twenty48_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
)

// These are fixed examples of what TestProperty_Slide checks.
func TestSlide_OneLine(t *testing.T) {
	t.Parallel()
	// A board has at least two rows, so each case adds a second row that never moves.
	for _, tc := range []struct {
		line   string
		d      game.Direction
		want   string
		gained int32
	}{
		{"2 2 2 .", game.Left, "4 2 . .", 4},
		{"2 2 2 2", game.Left, "4 4 . .", 8},
		{"2 2 2 2", game.Right, ". . 4 4", 8},
		{"2 . 4 2", game.Left, "2 4 2 .", 0},
		{"8 4 2 2", game.Left, "8 4 4 .", 4},
		{"1024 1024 2048 .", game.Left, "2048 2048 . .", 2048},
	} {
		t.Run(tc.line+" "+tc.d.String(), func(t *testing.T) {
			t.Parallel()
			r, p := position(t, classic(2, 4), tc.line+" / 2 4 2 4")
			next, change, err := r.Move(p, 0, game.Slide(tc.d), seed(1).Draws(2))
			require.NoError(t, err)
			assert.Equal(t, tc.want+" / 2 4 2 4", draw(beforeSpawn(next, change), 4))
			assert.Equal(t, tc.gained, change.Gained)
		})
	}
}

func TestLegalMoves_FixedOrder(t *testing.T) {
	t.Parallel()
	for board, want := range map[string][]game.Direction{
		". . . / . 2 . / . . .": {game.Up, game.Right, game.Down, game.Left},
		"2 . . / . . . / . . .": {game.Right, game.Down},
		". . . / . . . / . . 2": {game.Up, game.Left},
		"2 4 2 / 4 2 4 / 2 4 4": {game.Up, game.Right, game.Down, game.Left},
		"2 4 2 / 4 2 4 / 2 8 8": {game.Right, game.Left},
		"2 4 8 / 4 2 8 / 2 4 2": {game.Up, game.Down},
		"2 4 2 / 4 2 4 / . . .": {game.Down},
		"2 4 . / 4 2 . / 2 4 .": {game.Right},
		". 4 2 / . 2 4 / . 4 2": {game.Left},
		"2 4 2 / 4 2 4 / 2 4 2": nil,
	} {
		t.Run(board, func(t *testing.T) {
			t.Parallel()
			_, p := position(t, classic(3, 3), board)
			var got []game.Direction
			for _, m := range p.LegalMoves() {
				assert.Equal(t, game.Slide(m.Direction), m)
				got = append(got, m.Direction)
			}
			assert.Equal(t, want, got)
		})
	}
}

// No game reaches the largest tile, but a board can be created with it.
func TestMerge_LargestTile(t *testing.T) {
	t.Parallel()
	const full = "1073741824 1073741824 / 2 4"
	_, p := position(t, classic(2, 2), full)
	assert.Equal(t, game.NoMoves, p.Ended())

	r, p := position(t, classic(2, 2), "1073741824 . / 1073741824 .")
	next, change, err := r.Move(p, 0, game.Slide(game.Right), seed(1).Draws(2))
	require.NoError(t, err)
	assert.Equal(t, []int32{0, twenty48.MaxTile, 0, twenty48.MaxTile}, beforeSpawn(next, change))
	_, _, err = r.Move(p, 0, game.Slide(game.Up), seed(1).Draws(2))
	require.ErrorIs(t, err, game.ErrIllegalMove)
}
