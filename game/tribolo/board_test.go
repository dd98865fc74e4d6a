package tribolo_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/tribolo"
)

// Ensure that squares are ordered by x, then y, and that sets return them in that order.
func TestSquares(t *testing.T) {
	t.Parallel()
	var board tribolo.Board // all walls
	all := board.Walls()
	require.Equal(t, tribolo.Size, all.Len())
	var squares []tribolo.Square
	for x := range int32(tribolo.Columns) {
		for y := range int32(tribolo.Rows) {
			q, ok := tribolo.SquareOf(cell(x, y))
			require.True(t, ok)
			require.Equal(t, cell(x, y), q.Cell())
			require.True(t, all.Has(q))
			squares = append(squares, q)
		}
	}
	assert.True(t, slices.IsSorted(squares))
	assert.Equal(t, squares, slices.Collect(all.All()))
	for n := range 256 {
		q := tribolo.Square(n)
		assert.Equal(t, slices.Contains(squares, q), all.Has(q))
		assert.Equal(t, tribolo.Wall, board.Owner(q))
	}
	for range all.All() {
		break // the caller may stop early
	}
	popped := all
	for _, want := range squares {
		require.Equal(t, want, popped.Pop())
		require.False(t, popped.Has(want))
	}
	assert.True(t, popped.IsEmpty())
	assert.Equal(t, tribolo.Set{}, popped)
	assert.Equal(t, tribolo.Size, all.Len(), "a copy")

	for _, c := range []game.Cell{{X: -1}, {X: 16}, {Y: -1}, {Y: 11}, {X: 1 << 30, Y: 1 << 30}} {
		_, ok := tribolo.SquareOf(c)
		assert.False(t, ok, c)
	}
}

// Ensure that a search program may try any square, and that a move is made only if it is legal.
func TestPlayAnywhere(t *testing.T) {
	t.Parallel()
	p := start(countingSeed())
	b := p.Board()
	legal := b.Moves(0)
	for q := range 256 {
		after := b
		assert.Equal(t, legal.Has(tribolo.Square(q)), after.Play(0, tribolo.Square(q)) > 0)
		assert.Equal(t, legal.Has(tribolo.Square(q)), after != b)
	}
}

// This test is not parallel because it counts allocations.
func TestBoard_LookingAheadAllocatesNothing(t *testing.T) {
	p := start(countingSeed())
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		b := p.Board()
		for seat := p.Turn(); seat != game.NoSeat; {
			best, most := tribolo.Square(0), -1
			for q := range b.Moves(seat).All() {
				if n := b.Taken(seat, q).Len(); n > most {
					best, most = q, n
				}
			}
			if b.Play(seat, best) == 0 {
				panic("a listed move is illegal")
			}
			seat, _ = b.Next(seat, 0)
		}
	}))
}
