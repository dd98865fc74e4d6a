// Package solver lets the bots of package bot play games on a server. It converts the API's
// positions to those of package game.
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

// errUnknown means that this version of the program does not know the rules of the game.
var errUnknown = errors.New("this version of the program does not know the rules of this game")

// Solver is a bot that chooses moves in games of one variant. It is safe for concurrent
// use.
type Solver struct {
	bot     bot.Bot
	variant game.Variant
}

// New returns a solver that plays a variant with the named bot. The search for a move
// takes at most limit; 0 means the bot's default.
func New(variant string, revision int32, name string, limit time.Duration) (*Solver, error) {
	v, ok := variants.Lookup(variant, revision)
	if !ok {
		return nil, fmt.Errorf("%w: %s", errUnknown, variant)
	}
	b, err := bot.New(name, v, bot.Options{Time: limit})
	if err != nil {
		return nil, err
	}
	return &Solver{bot: b, variant: v}, nil
}

// Names returns the names of the bots that New accepts for a variant, weakest first.
func Names(variant string) []string {
	v, _ := variants.Current(variant)
	return v.Bots
}

// Name returns the bot's name.
func (s *Solver) Name() string { return s.bot.Name() }

// Choose returns a move for the seat whose turn it is, like bot.Bot.Choose.
func (s *Solver) Choose(ctx context.Context, p *pb.Position, seats []*pb.Seat) (game.Move, error) {
	position, err := s.position(p, seats)
	if err != nil {
		return game.Move{}, err
	}
	return s.bot.Choose(ctx, position)
}

// position converts an API position to a position of package game.
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
			if state > pb.CellState_CELL_STATE_EMPTY && state <= pb.CellState_CELL_STATE_GREEN { // else empty
				cells[i] = tribolo.Owner(state - pb.CellState_CELL_STATE_EMPTY)
			}
		}
		board, err := tribolo.NewBoard(cells)
		if err != nil {
			return nil, err
		}
		return tribolo.NewPosition(board, int(p.GetTurn()), resigned)
	default:
		return nil, errUnknown
	}
}
