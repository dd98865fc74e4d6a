package bot

import (
	"slices"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
)

// rollout plays random games of 2048 from one position, each starting with a given move.
type rollout struct {
	*odds
	meter *meter
	cut   int64 // number of moves after which a game is cut short

	from []uint8
	grid twenty48.Grid
}

// play plays a game and returns the points scored after the starting position, counting all
// merges in full. It also stops when the meter's work limit is reached.
func (r *rollout) play(first game.Direction) int64 {
	g, chance := r.grid, &r.meter.chance
	copy(g.Cells, r.from)
	score := g.Slide(first)
	left := min(r.cut, r.meter.left())
	moves := int64(1)
	for ; moves < left; moves++ {
		if r.end > 0 && slices.Max(g.Cells) >= r.end {
			break
		}
		g.Spawn(r.FoursIn, chance)
		legal := g.Changing()
		idle := r.IdleMoves && slices.Contains(g.Cells, 0)
		var possible [len(directions)]game.Direction
		n := 0
		for _, d := range directions {
			if legal.Has(d) || idle {
				possible[n] = d
				n++
			}
		}
		if n == 0 {
			break
		}
		score += g.Slide(possible[chance.Draw(n)])
	}
	r.meter.spend(moves)
	return score
}
