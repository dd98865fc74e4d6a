package bot

import (
	"cmp"
	"math"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
)

const (
	defaultRollouts = 200

	// cutMoves limits the length of random games on boards larger than 4×4, which would
	// otherwise last more than a thousand moves. The value of the first move becomes clear much
	// sooner.
	cutMoves = 100
)

// monteCarlo plays many random games after each legal move and chooses the move whose games
// have the highest average score.
func monteCarlo(o *odds, m *meter, p *twenty48.Position) game.Move {
	games := rollout{odds: o, meter: m, cut: math.MaxInt64, from: p.Grid().Cells, grid: p.Grid()}
	if len(games.from) > 16 {
		games.cut = cutMoves
	}
	legal := p.Legal()
	// Each round plays one game for every move, so that all moves have the same number of
	// games. An unfinished round does not count.
	var sums [len(directions)]int64
round:
	for range cmp.Or(m.Rollouts, defaultRollouts) {
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
	return highest(legal, func(i int) int64 { return sums[i] })
}
