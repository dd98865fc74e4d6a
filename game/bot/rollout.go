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

	// Games on a 4×4 board use board, packed into one word. Games on other boards use grid.
	slider *twenty48.Slider
	board  twenty48.Board64

	from []uint8
	grid twenty48.Grid
}

func newRollout(o *odds, m *meter, p *twenty48.Position, cut int64) rollout {
	r := rollout{odds: o, meter: m, cut: cut}
	if b, ok := p.Board64(); ok {
		r.slider, r.board = twenty48.NewSlider(), b
	} else {
		r.grid = p.Grid()
		r.from = slices.Clone(r.grid.Cells)
	}
	return r
}

// play plays a game and returns the points scored after the starting position, counting all
// merges in full. It also stops when the meter's work limit is reached.
func (r *rollout) play(first game.Direction) int64 {
	if r.slider != nil {
		return r.play64(first)
	}
	return r.playGrid(first)
}

// orders holds all orders of four items, two bits per item.
var orders = func() (all [24]uint8) {
	n := 0
	for a := range uint8(4) {
		for b := range uint8(4) {
			for c := range uint8(4) {
				if a != b && b != c && c != a {
					all[n] = a | b<<2 | c<<4 | (6-a-b-c)<<6
					n++
				}
			}
		}
	}
	return all
}()

func (r *rollout) play64(first game.Direction) int64 {
	s, chance := r.slider, &r.meter.chance
	b, score := s.Slide(r.board, first)
	left := min(r.cut, r.meter.left())
	moves := int64(1)
	for ; moves < left; moves++ {
		if r.goal > 0 && b.Has(r.goal) {
			break
		}
		x := chance.next()
		empty := b.Empty()
		for skip := x >> 32 * uint64(empty.Count()) >> 32; skip > 0; skip-- {
			empty &= empty - 1
		}
		spawned := empty & -empty
		if r.foursIn > 0 && x&(1<<32-1)*uint64(r.foursIn)>>32 == 0 {
			spawned <<= 1
		}
		b |= spawned

		// The first legal direction in random order is a random legal direction. A board and
		// its transpose have the same value, so the board stays transposed after a move up or
		// down.
		t := b.Transposed()
		order := orders[chance.next()>>32*24>>32]
		idle := r.idle && b.Empty() != 0
		moved := false
		for range 4 {
			from, slid := b, twenty48.Board64(0)
			if order&1 != 0 {
				from = t
			}
			if order&2 != 0 {
				slid = s.Right(from)
			} else {
				slid = s.Left(from)
			}
			if slid != from || idle {
				score += s.Made(from)
				b, moved = slid, true
				break
			}
			order >>= 2
		}
		if !moved {
			break
		}
	}
	r.meter.spend(moves)
	return score
}

func (r *rollout) playGrid(first game.Direction) int64 {
	g, chance := r.grid, &r.meter.chance
	copy(g.Cells, r.from)
	score := g.Slide(first)
	left := min(r.cut, r.meter.left())
	moves := int64(1)
	for ; moves < left; moves++ {
		if r.goal > 0 && slices.Max(g.Cells) >= r.goal {
			break
		}
		g.Spawn(r.foursIn, chance)
		legal := g.Changing()
		idle := r.idle && slices.Contains(g.Cells, 0)
		order := orders[chance.Draw(len(orders))]
		moved := false
		for range 4 {
			if d := directions[order&3]; legal.Has(d) || idle {
				score += g.Slide(d)
				moved = true
				break
			}
			order >>= 2
		}
		if !moved {
			break
		}
	}
	r.meter.spend(moves)
	return score
}
