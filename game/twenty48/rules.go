package twenty48

import (
	"fmt"
	"math"
	"slices"

	"github.com/gridstand/gridstand/game"
)

// Rules implements game.Rules for one variant of 2048. It has no state and is safe for concurrent
// use. The zero Rules is not valid: use New.
type Rules struct{ config Config }

var _ game.Rules = (*Rules)(nil)

// New returns the rules that c describes.
func New(c Config) *Rules { return &Rules{c} }

// Config returns the config that was passed to New.
func (r *Rules) Config() Config { return r.config }

// Start implements game.Rules.
func (r *Rules) Start(d *game.Draws) game.Position {
	c := r.config
	p := &Position{rows: c.Rows, columns: c.Columns, cells: make([]uint8, c.Rows*c.Columns)}
	switch c.Start {
	case StartSpawned:
		spawn(p.cells, c.FoursIn, d)
		spawn(p.cells, c.FoursIn, d)
	case StartTwoTwos:
		spawn(p.cells, 0, d)
		spawn(p.cells, 0, d)
	case StartMiddleTwo:
		p.cells[c.Rows/2*c.Columns+c.Columns/2] = 1
	}
	return p.derive(c)
}

// Move implements game.Rules. It slides, merges, scores, checks for the goal and spawns a tile.
// Besides game.ErrIllegalMove, it returns an error if the position belongs to other rules. The
// score and the number of moves saturate at the largest int32, which no real game reaches.
func (r *Rules) Move(from game.Position, _ int, m game.Move, d *game.Draws) (game.Position, game.Change, error) {
	p, err := r.Own(from)
	if err != nil {
		return nil, game.Change{}, err
	}
	if err := r.allows(p, m); err != nil {
		return nil, game.Change{}, err
	}
	c := r.config
	cells := slices.Clone(p.cells)
	points := slide(cells, p.columns, m.Direction)
	if c.HalfScore {
		points /= 2
	}
	score := min(int64(p.score)+points, math.MaxInt32)
	change := game.Change{Gained: int32(score - int64(p.score))}
	// It is enough to check for the goal before the spawn: a spawned tile is always smaller.
	won := c.EndsAtGoal && faceOf(slices.Max(cells)) >= c.Goal
	if !won || c.SpawnsAfterGoal {
		spawned := spawn(cells, c.FoursIn, d)
		change.Spawned = &spawned
	}
	next := &Position{rows: p.rows, columns: p.columns, cells: cells, score: int32(score), moves: p.moves}
	if next.moves < math.MaxInt32 {
		next.moves++
	}
	return next.derive(c), change, nil
}

// Resign implements game.Rules. The board has a single seat, so the position does not
// change.
func (r *Rules) Resign(p game.Position, _ int) game.Position { return p }

// Recordable implements game.Rules. Scores of 2048 are recordable no matter why the game ended.
func (r *Rules) Recordable(game.Reason) bool { return true }

// Own returns p as a Position of these rules, or an error if it belongs to others.
func (r *Rules) Own(p game.Position) (*Position, error) {
	own, ok := p.(*Position)
	if !ok {
		return nil, fmt.Errorf("twenty48: a %T is not a position of 2048", p)
	}
	if own.rows != r.config.Rows || own.columns != r.config.Columns {
		return nil, fmt.Errorf("twenty48: a board of %d×%d in a game of %d×%d",
			own.rows, own.columns, r.config.Rows, r.config.Columns)
	}
	return own, nil
}

// allows returns nil if m is legal in p, or else an error that explains why it is not.
func (r *Rules) allows(p *Position, m game.Move) error {
	switch {
	case p.ended != game.ReasonNone:
		return fmt.Errorf("%w: the game has ended, %s", game.ErrIllegalMove, p.ended)
	case m.Direction == 0:
		return fmt.Errorf("%w: 2048 is played by sliding up, right, down or left, not by naming a cell", game.ErrIllegalMove)
	case !slices.Contains(order[:], m.Direction):
		return fmt.Errorf("%w: tiles slide up, right, down or left only", game.ErrIllegalMove)
	case p.legal.Has(m.Direction):
		return nil
	case r.config.IdleMoves:
		return fmt.Errorf("%w: %s changes nothing, and no cell is empty for a new tile", game.ErrIllegalMove, m.Direction)
	default:
		return fmt.Errorf("%w: %s changes nothing", game.ErrIllegalMove, m.Direction)
	}
}

// spawn draws an empty cell and, if 4s can spawn, the value, and puts the tile into that cell.
// There must be an empty cell. After a slide there always is one: a full board changes only by
// a merge, which empties a cell, and an idle move is legal only if a cell is empty.
func spawn(cells []uint8, foursIn int, d Drawer) game.Spawn {
	empty := 0
	for _, e := range cells {
		if e == 0 {
			empty++
		}
	}
	skip := d.Draw(empty)
	at := slices.Index(cells, 0)
	for ; skip > 0; skip-- {
		at += 1 + slices.Index(cells[at+1:], 0)
	}
	e := uint8(1)
	if foursIn > 0 && d.Draw(foursIn) == 0 {
		e = 2
	}
	cells[at] = e
	return game.Spawn{Index: int32(at), Value: faceOf(e)}
}
