package bot

import (
	"slices"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
)

// directions is the order in which bots compare the moves of 2048. If several moves are equally
// good, a bot chooses the first.
var directions = [...]game.Direction{game.Up, game.Right, game.Down, game.Left}

// odds holds the rules of a variant of 2048, with the numbers that a bot calculates with.
type odds struct {
	twenty48.Config
	four float32 // probability that a spawned tile is a 4
	end  uint8   // exponent of the tile that ends the game, or 0 if no tile does
}

func oddsOf(r *twenty48.Rules) *odds {
	o := &odds{Config: r.Config()}
	if o.FoursIn > 0 {
		o.four = 1 / float32(o.FoursIn)
	}
	if o.EndsAtGoal {
		for 1<<o.end < o.Goal {
			o.end++
		}
	}
	return o
}

// of48 returns the function that creates a chooser of 2048.
func of48(choose func(o *odds, m *meter, p *twenty48.Position) game.Move) func(game.Variant) chooser {
	return func(v game.Variant) chooser {
		rules := v.Rules.(*twenty48.Rules)
		o := oddsOf(rules)
		return func(m *meter, p game.Position) (game.Move, error) {
			own, err := rules.Own(p)
			if err != nil {
				return game.Move{}, err
			}
			return choose(o, m, own), nil
		}
	}
}

var roteOrders = [2][4]game.Direction{
	{game.Left, game.Down, game.Right, game.Up},
	{game.Down, game.Left, game.Right, game.Up},
}

// rote plays a fixed pattern: it makes the first legal move in an order that depends on whether
// the number of moves so far is even or odd.
func rote(_ *odds, _ *meter, p *twenty48.Position) game.Move {
	order := roteOrders[p.MoveCount()%2]
	return game.Slide(order[slices.IndexFunc(order[:], p.Legal().Has)])
}

// greedy48 makes the move with the highest immediate score.
func greedy48(_ *odds, _ *meter, p *twenty48.Position) game.Move {
	// If the variant halves the points of a merge, it does so for every move.
	return highest(p.Legal(), func(i int) int64 { return p.Grid().Slide(directions[i]) })
}

// highest returns the legal move with the highest value, given those of directions, which are not negative.
func highest(legal twenty48.Directions, value func(i int) int64) game.Move {
	best, most := game.Move{}, int64(-1)
	for i, d := range directions {
		if legal.Has(d) && value(i) > most {
			best, most = game.Slide(d), value(i)
		}
	}
	return best
}
