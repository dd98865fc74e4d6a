package bot

import (
	"fmt"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
)

// directions is the order in which bots compare the moves of 2048. If several moves are equally
// good, a bot chooses the first.
var directions = [...]game.Direction{game.Up, game.Right, game.Down, game.Left}

// odds holds the parts of a 2048 variant's rules that a bot needs.
type odds struct {
	rows, columns int
	foursIn       int     // as in twenty48.Config
	four          float32 // probability that a spawned tile is a 4
	goal          uint8   // exponent of the tile that ends the game, or 0 if no tile does
	idle          bool    // whether a move that changes nothing is legal as long as a cell is empty
}

func oddsOf(v game.Variant) (odds, error) {
	r, ok := v.Rules.(*twenty48.Rules)
	if !ok {
		return odds{}, fmt.Errorf("variant %s: %T are not rules of 2048", v.ID, v.Rules)
	}
	c := r.Config()
	o := odds{rows: c.Rows, columns: c.Columns, foursIn: c.FoursIn, idle: c.IdleMoves}
	if c.FoursIn > 0 {
		o.four = 1 / float32(c.FoursIn)
	}
	if c.EndsAtGoal {
		for 1<<o.goal < c.Goal {
			o.goal++
		}
	}
	return o, nil
}

// own returns p as a position of this variant.
func (o *odds) own(p game.Position) (*twenty48.Position, error) {
	own, ok := p.(*twenty48.Position)
	if !ok {
		return nil, fmt.Errorf("a %T is not a position of 2048", p)
	}
	if own.Rows() != o.rows || own.Columns() != o.columns {
		return nil, fmt.Errorf("a board of %d×%d in a game of %d×%d", own.Rows(), own.Columns(), o.rows, o.columns)
	}
	return own, nil
}

// rote plays a fixed pattern: it makes the first legal move in an order that depends on whether
// the number of moves so far is even or odd.
type rote struct{ odds }

var roteOrders = [2][4]game.Direction{
	{game.Left, game.Down, game.Right, game.Up},
	{game.Down, game.Left, game.Right, game.Up},
}

func newRote(v game.Variant, _ Options) (chooser, error) {
	o, err := oddsOf(v)
	return rote{o}, err
}

func (r rote) choose(_ *meter, p game.Position) (game.Move, error) {
	own, err := r.own(p)
	if err != nil {
		return game.Move{}, err
	}
	legal := own.Legal()
	for _, d := range roteOrders[own.MoveCount()%2] {
		if legal.Has(d) {
			return game.Slide(d), nil
		}
	}
	return game.Move{}, ErrNoMove
}

// greedy48 makes the move with the highest immediate score.
type greedy48 struct{ odds }

func newGreedy48(v game.Variant, _ Options) (chooser, error) {
	o, err := oddsOf(v)
	return greedy48{o}, err
}

func (g greedy48) choose(_ *meter, p game.Position) (game.Move, error) {
	own, err := g.own(p)
	if err != nil {
		return game.Move{}, err
	}
	best, highest := game.Move{}, int64(-1)
	for _, d := range directions {
		if !own.Legal().Has(d) {
			continue
		}
		// If the variant halves the points of a merge, it does so for every move.
		if made := own.Grid().Slide(d); made > highest {
			best, highest = game.Slide(d), made
		}
	}
	return best, nil
}
