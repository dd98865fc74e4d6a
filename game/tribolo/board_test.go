package tribolo_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/tribolo"
)

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
