// Package bot has players that choose a move from a position. A bot sees what any
// player sees, the position and the rules of its variant, and never the seed: random
// choices come from a source of its own.
//
// Some bots choose at once. The others search until their options or the context stop
// them:
//
//	2048      random, rote, greedy     at once
//	          montecarlo, expectimax   search
//	Tribolo   random, greedy           at once
//	          original                 at once: it looks three moves ahead, always
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

// Bot is a player of one variant. It is safe for concurrent use, and has no state but
// that of its random source.
type Bot interface {
	// Name is the name under which New makes the bot.
	Name() string

	// Choose returns a legal move for the seat to move in p. After the context's
	// deadline, or the work that the options allow, a searching bot returns the
	// best move found so far. If the context is cancelled, it returns the context's
	// error.
	//
	// It returns an error that wraps ErrNoMove if no seat is to move in p. Most
	// bots return an error for a position of another variant.
	Choose(ctx context.Context, p game.Position) (game.Move, error)
}

var (
	// ErrUnknown is returned, wrapped, if the variant's kind has no bot of that
	// name.
	ErrUnknown = errors.New("no such bot")

	// ErrNoMove is returned, wrapped, if the game has ended.
	ErrNoMove = errors.New("no move to choose")
)

// Options bound how much a bot thinks. The zero Options are every bot's defaults. A bot
// ignores the options that do not apply to it.
type Options struct {
	// Source is the random source of a bot, one value per decision. The bot uses it
	// under its own lock, so bots must not share one. By default it is seeded by the
	// operating system.
	Source rand.Source

	// Depth bounds how far a searching bot looks ahead: in moves of any seat for
	// minimax, in spawned tiles for expectimax.
	Depth int

	// Rollouts is the number of random games that montecarlo plays for each legal
	// move.
	Rollouts int

	// Work bounds the number of moves that a searching bot tries on a board for a
	// decision. With the same source and work, it decides the same on every machine.
	Work int64

	// Time bounds the time of a searching bot's decision, as a deadline of the
	// context does; the earlier one applies.
	Time time.Duration
}

func (o Options) validate() error {
	switch {
	case o.Depth < 0:
		return fmt.Errorf("depth: %d is negative", o.Depth)
	case o.Rollouts < 0:
		return fmt.Errorf("rollouts: %d is negative", o.Rollouts)
	case o.Work < 0:
		return fmt.Errorf("work: %d is negative", o.Work)
	case o.Time < 0:
		return fmt.Errorf("time: %s is negative", o.Time)
	}
	return nil
}

// chooser decides for a bot. Rules and defaults are checked when it is made.
type chooser interface {
	choose(m *meter, p game.Position) (game.Move, error)
}

// maker makes a bot for any variant of a kind of game.
type maker struct {
	name string
	make func(v game.Variant, o Options) (chooser, error)
}

// makers are the bots of each kind of game, the weakest first.
var makers = map[game.Kind][]maker{
	game.Twenty48: {
		{"random", newRandom},
		{"rote", newRote},
		{"greedy", newGreedy48},
		{"montecarlo", newMonteCarlo},
		{"expectimax", newExpectimax},
	},
	game.Tribolo: {
		{"random", newRandom},
		{"greedy", newGreedyTribolo},
		{"original", newOriginal},
		{"minimax", newMinimax},
	},
}

// Names lists the bots that play games of a kind, the weakest first. The slice
// belongs to the caller.
func Names(k game.Kind) []string {
	var names []string
	for _, m := range makers[k] {
		names = append(names, m.name)
	}
	return names
}

// New makes a bot for a variant. It returns an error that wraps ErrUnknown if the
// variant's kind has no bot of that name, and another error for an option that is out
// of range.
func New(name string, v game.Variant, o Options) (Bot, error) {
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("bot %s: %w", name, err)
	}
	for _, m := range makers[v.Kind] {
		if m.name != name {
			continue
		}
		if o.Source == nil {
			o.Source = rand.NewPCG(rand.Uint64(), rand.Uint64())
		}
		c, err := m.make(v, o)
		if err != nil {
			return nil, fmt.Errorf("bot %s: %w", name, err)
		}
		return &bot{name: name, chooser: c, options: o, source: o.Source}, nil
	}
	return nil, fmt.Errorf("%w of %s: %q", ErrUnknown, v.ID, name)
}

type bot struct {
	name    string
	chooser chooser
	options Options

	mu     sync.Mutex // guards source
	source rand.Source
}

// Name implements Bot.
func (b *bot) Name() string { return b.name }

// Choose implements Bot.
func (b *bot) Choose(ctx context.Context, p game.Position) (game.Move, error) {
	move, _, err := b.decide(ctx, p)
	return move, err
}

// decide is Choose, and returns the work that it took.
func (b *bot) decide(ctx context.Context, p game.Position) (game.Move, int64, error) {
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		return game.Move{}, 0, err
	}
	if p.Turn() == game.NoSeat {
		return game.Move{}, 0, fmt.Errorf("bot %s: %w: the game has ended, %s", b.name, ErrNoMove, p.Ended())
	}
	m := meters.Get().(*meter)
	defer func() {
		*m = meter{} // drops the context
		meters.Put(m)
	}()
	m.start(ctx, b.options, b.chance())
	move, err := b.chooser.choose(m, p)
	if err == nil && m.cancelled {
		err = ctx.Err()
	}
	if err != nil {
		return game.Move{}, m.done, fmt.Errorf("bot %s: %w", b.name, err)
	}
	return move, m.done, nil
}

// chance draws the seed of a decision's random numbers.
func (b *bot) chance() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.source.Uint64()
}

// random plays any game: a random legal move, each equally likely.
type random struct{}

func newRandom(game.Variant, Options) (chooser, error) { return random{}, nil }

func (random) choose(m *meter, p game.Position) (game.Move, error) {
	moves := p.LegalMoves()
	return moves[m.chance.Draw(len(moves))], nil
}
