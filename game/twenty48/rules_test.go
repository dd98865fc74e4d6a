package twenty48_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
)

func TestMove_IllegalSaysWhy(t *testing.T) {
	t.Parallel()
	idle := classic(2, 2)
	idle.IdleMoves = true
	ending := classic(2, 2)
	ending.EndsAtGoal = true
	for name, tc := range map[string]struct {
		config twenty48.Config
		board  string
		move   game.Move
		want   string
	}{
		"changes nothing":      {classic(2, 2), "2 . / 4 .", game.Slide(game.Left), "illegal move: left changes nothing"},
		"idle on a full board": {idle, "2 2 / 4 8", game.Slide(game.Up), "illegal move: up changes nothing, and no cell is empty for a new tile"},
		"a cell":               {classic(2, 2), "2 . / 4 .", game.To(game.Cell{X: 1}), "illegal move: 2048 is played by sliding up, right, down or left, not by naming a cell"},
		"no known direction":   {classic(2, 2), "2 . / 4 .", game.Slide(5), "illegal move: tiles slide up, right, down or left only"},
		"stuck":                {classic(2, 2), "2 4 / 4 2", game.Slide(game.Up), "illegal move: the game has ended, no moves left"},
		"won":                  {ending, "2048 . / . .", game.Slide(game.Right), "illegal move: the game has ended, goal reached"},
	} {
		r, p := position(t, tc.config, tc.board)
		d := seed(1).Draws(2)
		next, change, err := r.Move(p, 0, tc.move, d)
		require.ErrorIs(t, err, game.ErrIllegalMove, name)
		require.EqualError(t, err, tc.want, name)
		assert.Nil(t, next, name)
		assert.Zero(t, change, name)
		assert.Equal(t, seed(1).Draws(2).Draw(math.MaxInt), d.Draw(math.MaxInt), "%s: something was drawn", name)
	}
}

func TestGoal_StaysReached(t *testing.T) {
	t.Parallel()
	r, p := position(t, classic(2, 2), "2048 2048 / 2 8")
	next, change, err := r.Move(p, 0, game.Slide(game.Left), seed(1).Draws(2))
	require.NoError(t, err)
	assert.Equal(t, tiles(t, "4096 . / 2 8"), beforeSpawn(next, change))
	assert.True(t, next.(*twenty48.Position).GoalReached())

	_, stuck := position(t, classic(2, 2), "4096 2 / 2 4096")
	assert.Equal(t, game.NoMoves, stuck.Ended())
	for reason := game.NoMoves; reason <= game.Abandoned; reason++ {
		assert.Equal(t, []int{0}, stuck.Winners(reason), reason)
	}
}

func TestScore_WithinInt32(t *testing.T) {
	t.Parallel()
	r := twenty48.New(classic(2, 2))
	p, err := r.Position(tiles(t, "1024 1024 / . ."), math.MaxInt32-100, math.MaxInt32)
	require.NoError(t, err)
	next, change, err := r.Move(p, 0, game.Slide(game.Left), seed(1).Draws(2))
	require.NoError(t, err)
	assert.EqualValues(t, 100, change.Gained)
	assert.Equal(t, []int32{math.MaxInt32}, next.Scores())
	assert.EqualValues(t, math.MaxInt32, next.MoveCount())
}

// otherGame is a position of a game other than 2048.
type otherGame struct{ game.Position }

func TestRules_OtherPositions(t *testing.T) {
	t.Parallel()
	r := twenty48.New(classic(2, 2))
	_, _, err := r.Move(otherGame{}, 0, game.Slide(game.Left), nil)
	require.EqualError(t, err, "twenty48: a twenty48_test.otherGame is not a position of 2048")
	_, p := position(t, classic(2, 3), "2 . . / . . .")
	_, _, err = r.Move(p, 0, game.Slide(game.Left), nil)
	require.EqualError(t, err, "twenty48: a board of 2×3 in a game of 2×2")
	require.NotErrorIs(t, err, game.ErrIllegalMove)
}
