// Package bot implements players that choose a move from a position. A bot sees what any player
// sees (the position and its variant's rules) but never the seed. It makes its random choices
// with its own source.
//
// Some bots choose immediately. The others search until their options or the context stop them:
//
//	2048      random, rote, greedy     immediate
//	          montecarlo, expectimax   search
//	Tribolo   random, greedy           immediate
//	          original                 immediate: it always looks three moves ahead
//	          minimax                  search
//
// The command tools/botstrength measures how well they play.
package bot

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gridstand/gridstand/game"
)

// Bot plays one variant. It is safe for concurrent use, and has no state other than its random
// source.
type Bot interface {
	// Name returns the bot's name, as passed to New.
	Name() string

	// Choose returns a legal move for the seat to move in p. A searching bot that reaches its
	// work limit or the context's deadline returns the best move found so far. If the context
	// is canceled, Choose returns the context's error.
	//
	// It returns an error that wraps ErrNoMove if no seat is to move in p. Most bots return an
	// error for a position of another variant.
	Choose(ctx context.Context, p game.Position) (game.Move, error)
}

var (
	// ErrUnknown is returned, wrapped, if the variant's kind has no bot with the given name.
	ErrUnknown = errors.New("no such bot")

	// ErrNoMove is returned, wrapped, if the game has ended.
	ErrNoMove = errors.New("no move to choose")
)

// Options limit how long and how deep a bot thinks. The zero value selects every bot's
// defaults, and no number may be negative. A bot ignores the options that do not apply to it.
type Options struct {
	// Source is the bot's random source, from which it takes one value per decision. The bot
	// guards it with its own lock, so bots must not share a source. The default is seeded by
	// the operating system.
	Source rand.Source

	// Depth limits how far a searching bot looks ahead: moves of any seat for minimax, spawned
	// tiles for expectimax.
	Depth int

	// Rollouts is the number of random games that montecarlo plays for each legal
	// move.
	Rollouts int

	// Work limits the number of moves that a searching bot tries on a board per decision. With
	// the same source and work, the bot makes the same decision on every machine.
	Work int64

	// Time limits the duration of a searching bot's decision. If the context has a deadline
	// too, the earlier one applies.
	Time time.Duration
}

// chooser makes a decision of a bot, in a position in which a seat is to move.
type chooser func(m *meter, p game.Position) (game.Move, error)

// makers has, for each kind of game and each of its Variant.Bots, the function that creates the bot's
// chooser.
var makers = map[game.Kind]map[string]func(v game.Variant) chooser{
	game.Twenty48: {
		"random":     newRandom,
		"rote":       of48(rote),
		"greedy":     of48(greedy48),
		"montecarlo": of48(monteCarlo),
		"expectimax": of48(expectimax),
	},
	game.Tribolo: {
		"random":   newRandom,
		"greedy":   ofTribolo(greedyTribolo),
		"original": ofTribolo(original),
		"minimax":  ofTribolo(minimax),
	},
}

// New creates the bot with the given name for variant v. It returns an error that wraps
// ErrUnknown if the variant's kind has no bot with that name.
func New(name string, v game.Variant, o Options) (Bot, error) {
	create := makers[v.Kind][name]
	if create == nil {
		return nil, fmt.Errorf("%w of %s: %q", ErrUnknown, v.ID, name)
	}
	if o.Source == nil {
		o.Source = rand.NewPCG(rand.Uint64(), rand.Uint64())
	}
	return &bot{name: name, choose: create(v), options: o}, nil
}

type bot struct {
	name    string
	choose  chooser
	options Options
	mu      sync.Mutex // guards options.Source
}

// Name implements Bot.
func (b *bot) Name() string { return b.name }

// Choose implements Bot.
func (b *bot) Choose(ctx context.Context, p game.Position) (game.Move, error) {
	move, _, err := b.decide(ctx, p)
	return move, err
}

// decide implements Choose and also returns the amount of work that the decision took.
func (b *bot) decide(ctx context.Context, p game.Position) (game.Move, int64, error) {
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		return game.Move{}, 0, err
	}
	if p.Turn() == game.NoSeat {
		return game.Move{}, 0, fmt.Errorf("bot %s: %w: the game has ended, %s", b.name, ErrNoMove, p.Ended())
	}
	b.mu.Lock()
	seed := b.options.Source.Uint64()
	b.mu.Unlock()
	m := newMeter(ctx, b.options, seed)
	move, err := b.choose(m, p)
	if err == nil && m.canceled {
		err = ctx.Err()
	}
	if err != nil {
		return game.Move{}, m.done, fmt.Errorf("bot %s: %w", b.name, err)
	}
	return move, m.done, nil
}

func newRandom(game.Variant) chooser { return random }

// random plays any game. It chooses among the legal moves with equal probability.
func random(m *meter, p game.Position) (game.Move, error) {
	moves := p.LegalMoves()
	return moves[m.chance.Draw(len(moves))], nil
}
