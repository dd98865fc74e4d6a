package tribolo_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

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
	for range legal.All() {
		break // the caller may stop early
	}
}
