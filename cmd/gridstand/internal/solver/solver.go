// Package solver lets the bots of package bot play games on a server: it turns a
// position of the API into one of package game.
package solver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/bot"
	"github.com/gridstand/gridstand/game/tribolo"
	"github.com/gridstand/gridstand/game/twenty48"
	"github.com/gridstand/gridstand/game/variants"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// ErrUnknown means that this version of the program has no such bot, or does
// not know the rules of the game.
var ErrUnknown = errors.New("this version of the program has no such bot for this game")

// Solver is a bot that chooses moves in games of one variant. It is safe for
// concurrent use.
type Solver struct {
	bot     bot.Bot
	variant game.Variant
}

// New makes a solver for a variant, by the bot's name. A search takes at most
// limit for a move; 0 is the bot's default. The error is or wraps ErrUnknown
// if there is none.
func New(variant string, revision int32, name string, limit time.Duration) (*Solver, error) {
	v, ok := variants.Lookup(variant, revision)
	if !ok {
		return nil, fmt.Errorf("%w: %s", ErrUnknown, variant)
	}
	b, err := bot.New(name, v, bot.Options{Time: limit})
	if errors.Is(err, bot.ErrUnknown) {
		return nil, fmt.Errorf("%w: %s", ErrUnknown, name)
	}
	if err != nil {
		return nil, err
	}
	return &Solver{bot: b, variant: v}, nil
}

// Names lists the bots that New can make for a variant.
func Names(variant string) []string {
	v, ok := variants.Current(variant)
	if !ok {
		return nil
	}
	return bot.Names(v.Kind)
}

// Name is the bot's.
func (s *Solver) Name() string { return s.bot.Name() }

// Choose returns a move for the seat to move, as bot.Bot does.
func (s *Solver) Choose(ctx context.Context, p *pb.Position, seats []*pb.Seat) (game.Move, error) {
	position, err := s.position(p, seats)
	if err != nil {
		return game.Move{}, err
	}
	return s.bot.Choose(ctx, position)
}

// owners are those that a message names; a cell of any other state is empty.
var owners = map[pb.CellState]tribolo.Owner{
	pb.CellState_CELL_STATE_WALL:  tribolo.Wall,
	pb.CellState_CELL_STATE_BLUE:  tribolo.Blue,
	pb.CellState_CELL_STATE_RED:   tribolo.Red,
	pb.CellState_CELL_STATE_GREEN: tribolo.Green,
}

// position is the position that a message describes.
func (s *Solver) position(p *pb.Position, seats []*pb.Seat) (game.Position, error) {
	switch rules := s.variant.Rules.(type) {
	case *twenty48.Rules:
		var score int32
		if len(p.GetScores()) > 0 {
			score = p.GetScores()[0]
		}
		return rules.Position(p.GetTwenty48().GetTiles(), score, p.GetMoveCount())
	case *tribolo.Rules:
		var resigned tribolo.SeatSet
		for i, seat := range seats {
			if seat.GetResigned() {
				resigned = resigned.With(i)
			}
		}
		cells := make([]tribolo.Owner, len(p.GetTribolo().GetCells()))
		for i, state := range p.GetTribolo().GetCells() {
			cells[i] = owners[state]
		}
		board, err := tribolo.NewBoard(cells)
		if err != nil {
			return nil, err
		}
		return tribolo.NewPosition(board, int(p.GetTurn()), resigned)
	default:
		return nil, ErrUnknown
	}
}
