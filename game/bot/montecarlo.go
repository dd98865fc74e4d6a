package bot

import (
	"math"

	"github.com/gridstand/gridstand/game"
)

// monteCarlo plays many random games after each legal move and chooses the move whose games
// have the highest average score.
type monteCarlo struct {
	odds
	rollouts int
	cut      int64 // number of moves after which a random game is cut short
}

const (
	defaultRollouts = 200

	// cutMoves limits the length of random games on boards larger than 4×4, which would
	// otherwise last more than a thousand moves. The value of the first move becomes clear much
	// sooner.
	cutMoves = 100
)

func newMonteCarlo(v game.Variant, o Options) (chooser, error) {
	known, err := oddsOf(v)
	if err != nil {
		return nil, err
	}
	mc := &monteCarlo{odds: known, rollouts: o.Rollouts, cut: math.MaxInt64}
	if mc.rollouts == 0 {
		mc.rollouts = defaultRollouts
	}
	if mc.rows*mc.columns > 16 {
		mc.cut = cutMoves
	}
	return mc, nil
}

func (mc *monteCarlo) choose(m *meter, p game.Position) (game.Move, error) {
	own, err := mc.own(p)
	if err != nil {
		return game.Move{}, err
	}
	games := newRollout(&mc.odds, m, own, mc.cut)
	legal := own.Legal()
	// Each round plays one game for every move, so that all moves have the same number of
	// games. An unfinished round does not count.
	var sums [len(directions)]int64
round:
	for range mc.rollouts {
		var scores [len(directions)]int64
		for i, d := range directions {
			if !legal.Has(d) {
				continue
			}
			scores[i] = games.play(d)
			if m.spend(0) {
				break round
			}
		}
		for i, score := range scores {
			sums[i] += score
		}
	}
	best, highest := game.Move{}, int64(-1)
	for i, d := range directions {
		if legal.Has(d) && sums[i] > highest {
			best, highest = game.Slide(d), sums[i]
		}
	}
	return best, nil
}
