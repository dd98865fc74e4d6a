package bot

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/tribolo"
)

// after returns the position after the move m.
func after(t testing.TB, p game.Position, m game.Move) *tribolo.Position {
	t.Helper()
	next, _, err := tribolo.New().Move(p, p.Turn(), m, nil)
	require.NoError(t, err)
	return next.(*tribolo.Position)
}

func TestGreedy_TakesMostInTribolo(t *testing.T) {
	t.Parallel()
	for _, p := range positionsTribolo(t, 50) {
		var want game.Move
		most := 0
		for _, m := range p.LegalMoves() { // ordered by x, then y
			if n := len(p.Taken(m)); n > most {
				want, most = m, n
			}
		}
		assert.Equal(t, want, choose(t, "greedy", variant(t, "tribolo"), Options{}, p))
	}
}

// plainMinimax returns the value of p for the seat me, assuming that all opponents play against
// it. It uses only the rules and does no pruning.
func plainMinimax(t testing.TB, p *tribolo.Position, me, plies int, worth func(p *tribolo.Position) int) int {
	t.Helper()
	if plies == 0 || p.Turn() == game.NoSeat {
		return worth(p)
	}
	best := math.MinInt
	if p.Turn() != me {
		best = math.MaxInt
	}
	for _, m := range p.LegalMoves() {
		value := plainMinimax(t, after(t, p, m), me, plies-1, worth)
		if p.Turn() == me {
			best = max(best, value)
		} else {
			best = min(best, value)
		}
	}
	return best
}

func TestOriginal(t *testing.T) {
	t.Parallel()
	few := 0
	for _, p := range positionsTribolo(t, 30) {
		me := p.Turn()
		plies, worth := 3, func(p *tribolo.Position) int { return int(p.Scores()[me]) }
		cells := 0
		for _, n := range p.Scores() {
			cells += int(n)
		}
		if len(p.LegalMoves()) < 5 && tribolo.Size-cells > 20 {
			few++
			plies, worth = 2, func(p *tribolo.Position) int {
				b := p.Board()
				return b.Moves(me).Len()
			}
		}
		var want game.Move
		highest := -1
		for _, m := range p.LegalMoves() {
			if value := plainMinimax(t, after(t, p, m), me, plies-1, worth); value > highest {
				want, highest = m, value
			}
		}
		assert.Equal(t, want, choose(t, "original", variant(t, "tribolo"), Options{}, p))
	}
	assert.Positive(t, few, "number of positions with few moves")
}

// TestMinimax_EqualsPlainSearch checks that alpha-beta pruning does not change the result.
func TestMinimax_EqualsPlainSearch(t *testing.T) {
	t.Parallel()
	for i, p := range positionsTribolo(t, 24) {
		me := p.Turn()
		worth := func(p *tribolo.Position) int {
			b := p.Board()
			rivalCells, rivalMoves := 0, 0
			for seat := range tribolo.Seats {
				if seat != me && !p.Resigned().Has(seat) {
					rivalCells = max(rivalCells, b.Score(seat))
					rivalMoves = max(rivalMoves, b.Moves(seat).Len())
				}
			}
			cells := b.Score(me) - rivalCells
			switch {
			case p.Turn() != game.NoSeat:
				return worthCell*cells + worthMove*(b.Moves(me).Len()-rivalMoves)
			case cells > 0:
				return worthEnd + cells
			case cells < 0:
				return -worthEnd + cells
			default:
				return worthEnd / 2
			}
		}
		depth := 1 + i%3
		m := choose(t, "minimax", variant(t, "tribolo"), Options{Depth: depth}, p)
		assert.Equal(t, plainMinimax(t, p, me, depth, worth), plainMinimax(t, after(t, p, m), me, depth-1, worth))
	}
}
