package twenty48_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
)

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
