package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/semaphore"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/bot"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/match"
)

const (
	// thinkFor is how long a bot may think about a move.
	thinkFor = time.Second
	// maxScheduled limits the number of bots that wait to move. Beyond the limit, only one
	// bot can wait in the games from each address, up to twice as many bots, so that some
	// players' games do not keep bots from moving in those of others. The games of other bots
	// are due again when their lease expires.
	maxScheduled = 10_000
	// maxAddresses is the number of players whose addresses a server remembers.
	maxAddresses = 1 << 16
	// runsUnwatched is how long after its creation a game between bots continues without watchers.
	runsUnwatched = time.Minute
)

// bots makes bots move on this server. If this server dies, the next server to lease the
// game makes the move.
type bots struct {
	pace   time.Duration
	logger *slog.Logger
	make   func(name string, v game.Variant, o bot.Options) (bot.Bot, error) // bot.New, except in tests
	// thinking limits the number of bots that think concurrently. If there are several
	// processors, one is left free, so that players' moves are not delayed. The games from one
	// source have at most half of the places, which also bounds how many of their bots wait before
	// those of another source.
	places   int
	thinking *semaphore.Weighted

	mu        sync.Mutex
	hub       *match.Hub // nil while not running
	ctx       context.Context
	scheduled map[string]scheduled // by game id
	sources   map[string]*source   // the sources of scheduled games
	group     sync.WaitGroup

	// addresses contains the address from which each player last created a game, by player id.
	addresses *lru.Cache[string, string]
}

// simplerBots are the bots that replace one that has panicked. They are tried in this
// order. All variants have them.
var simplerBots = []string{standIn, "random"}

// errPanicked means that a bot has panicked.
var errPanicked = errors.New("the bot panicked")

// scheduled is the move of a bot that waits: the version at which it is to move, and the source
// that the game counts toward.
type scheduled struct {
	version int32
	source  *source
}

// source is where games with bots come from; see bots.source.
type source struct {
	id       string
	games    int                 // number of scheduled games
	thinking *semaphore.Weighted // the source's places among the bots that think
}

func newBots(pace time.Duration, logger *slog.Logger) *bots {
	addresses, _ := lru.New[string, string](maxAddresses) // fails only for a size below 1
	places := max(1, runtime.GOMAXPROCS(0)-1)
	return &bots{
		pace: pace, logger: logger, make: bot.New, scheduled: map[string]scheduled{}, sources: map[string]*source{},
		places: places, thinking: semaphore.NewWeighted(int64(places)), addresses: addresses,
	}
}

// source returns the id of the source of a game with bots: the address from which its creator last
// created a game through this server, or the creator's id if the server does not know it. The
// bots of one source share its places, so that a client gets no more with many accounts.
func (b *bots) source(state *replay.State) string {
	if address, ok := b.addresses.Get(state.Creator.ID); ok {
		return address
	}
	return state.Creator.ID
}

// start lets bots move until stop is called, which waits for bots that are moving. Other servers move
// those that have not moved when the leases of their games expire.
func (b *bots) start(ctx context.Context, hub *match.Hub) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ctx, b.hub = ctx, hub
	return func() {
		cancel()
		b.mu.Lock()
		b.hub = nil
		b.mu.Unlock()
		b.group.Wait()
	}
}

// schedule schedules the move of the bot whose turn it is: after the configured pace, minus
// the time that the bot has already waited, which is negative if the store's clock was set back.
// It returns false before start and after stop, when no bots move on this server.
func (b *bots) schedule(state *replay.State, waited time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.hub == nil {
		return false
	}
	earlier, ok := b.scheduled[state.ID]
	if ok && earlier.version >= state.Version {
		return true
	}
	if !ok {
		id := b.source(state)
		if b.full(id) {
			return true
		}
		if b.sources[id] == nil {
			b.sources[id] = &source{id: id, thinking: semaphore.NewWeighted(int64(max(1, b.places/2)))}
		}
		earlier.source = b.sources[id]
		earlier.source.games++
	}
	hub, ctx, next := b.hub, b.ctx, scheduled{state.Version, earlier.source}
	b.scheduled[state.ID] = next
	b.group.Go(func() {
		err := b.moveAfter(ctx, hub, state, next.source, b.pace-max(0, waited))
		b.mu.Lock()
		if b.scheduled[state.ID] == next {
			delete(b.scheduled, state.ID)
			if next.source.games--; next.source.games == 0 {
				delete(b.sources, next.source.id)
			}
		}
		b.mu.Unlock()
		if err != nil && ctx.Err() == nil && !overtaken(err) {
			// The next processing of the game logs damage, unless an operator put it in quarantine.
			if _, damaged := errors.AsType[*gamelog.DamagedError](err); !damaged {
				b.logger.Warn("bot did not move; its game will be retried",
					"id", "bot-not-moved", "game", state.ID, "error", err)
			}
		}
	})
	return true
}

// full reports whether no more bots in the games from the source with the given id can wait. The caller holds mu.
func (b *bots) full(id string) bool {
	waiting := len(b.scheduled)
	return waiting >= maxScheduled && b.sources[id] != nil || waiting >= 2*maxScheduled
}

// moveAfter waits for the delay, then makes a move for the bot whose turn it is in the
// given state.
func (b *bots) moveAfter(ctx context.Context, hub *match.Hub, state *replay.State, from *source, delay time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(delay):
	}
	m, err := hub.Acquire(ctx, state.ID)
	if err != nil {
		return err
	}
	defer m.Release()
	if state.Exhibition() && !watchedOrYoung(m.State(), m.HasWatchers()) {
		return nil // The game is paused. The next server to lease it schedules it for later.
	}
	return b.move(ctx, m, state, from)
}

// move makes a move for the bot whose turn it is in the given state of the match.
func (b *bots) move(ctx context.Context, m *match.Match, state *replay.State, from *source) error {
	player, err := b.make(state.BotToMove(), *state.Variant, bot.Options{})
	if err != nil { // The game was created by a newer server that has this bot.
		return errors.Join(replay.ErrUnknown, err)
	}
	move, err := b.inTurn(ctx, from, func() (game.Move, error) { return b.think(ctx, m, state, player) })
	if err != nil {
		return err
	}
	_, err = m.Do(ctx, match.Call{
		Version: state.Version, Seat: state.Turn(), Action: replay.Moved{Move: move, ByBot: true},
	})
	if errors.Is(err, match.ErrTooLong) {
		_, err = m.Do(ctx, match.Call{Version: state.Version, Seat: game.NoSeat, Action: replay.Abandoned{}})
	}
	return err
}

// inTurn calls think when there is a place for a bot of the given source to think.
func (b *bots) inTurn(ctx context.Context, from *source, think func() (game.Move, error)) (game.Move, error) {
	if err := from.thinking.Acquire(ctx, 1); err != nil {
		return game.Move{}, err
	}
	defer from.thinking.Release(1)
	if err := b.thinking.Acquire(ctx, 1); err != nil {
		return game.Move{}, err
	}
	defer b.thinking.Release(1)
	return think()
}

// think lets player choose a move, unless the game has left the given state while the bot waited.
// If player panics, a simpler bot chooses instead, because player would panic again in the same
// position.
func (b *bots) think(ctx context.Context, m *match.Match, state *replay.State, player bot.Bot) (game.Move, error) {
	if now := m.State().Version; now != state.Version {
		return game.Move{}, &match.VersionConflictError{Version: now}
	}
	ctx, cancel := context.WithTimeout(ctx, thinkFor)
	defer cancel()
	move, err := b.choose(ctx, player, state.Position)
	for _, name := range simplerBots {
		if !errors.Is(err, errPanicked) {
			break
		}
		var simpler bot.Bot
		if simpler, err = b.make(name, *state.Variant, bot.Options{}); err == nil {
			move, err = b.choose(ctx, simpler, state.Position)
		}
	}
	return move, err
}

// choose calls player.Choose and returns errPanicked if the call panics, because a faulty
// bot must not crash one server after another.
func (b *bots) choose(ctx context.Context, player bot.Bot, position game.Position) (move game.Move, err error) {
	defer func() {
		if r := recover(); r != nil {
			b.logger.Error("bot failed", "id", "bot-panicked", "bot", player.Name(), "panic", r, "stack", string(debug.Stack()))
			err = fmt.Errorf("bot %s: %w", player.Name(), errPanicked)
		}
	}()
	return player.Choose(ctx, position)
}

// pausable reports whether the game is paused if no client watches it. Bots never stop by
// themselves, and the creators of games between bots rarely watch them to the end.
func pausable(state *replay.State) bool {
	return state.Status == replay.Active && state.Exhibition()
}

// watchedOrYoung reports whether a game between bots has watchers on any server or a preview on
// this one, or is younger than runsUnwatched by the time of its last event.
func watchedOrYoung(state *replay.State, watched bool) bool {
	return watched || state.UpdateTime.Sub(state.CreateTime) < runsUnwatched
}
