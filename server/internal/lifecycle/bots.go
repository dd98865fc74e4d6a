package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/bot"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/store"
)

const (
	// thinkFor is how long a bot may think about a move.
	thinkFor = time.Second
	// maxScheduled bounds the bots that wait to move. The games of the others are
	// due again when their leases expire.
	maxScheduled = 10_000
)

// bots has bots move on this server. If it dies, the server that leases the game
// next has them move.
type bots struct {
	pace   time.Duration
	logger *slog.Logger
	// retry makes games due again soon.
	retry func(gameIDs ...string)
	// running reports whether a game between bots alone runs, rather than being
	// paused.
	running func(ctx context.Context, state *replay.State) (bool, error)
	// thinkers bounds the bots that think at the same time: to fewer than there
	// are processors, if there are several, so that players' moves do not wait.
	thinkers chan struct{}

	mu        sync.Mutex
	hub       *match.Hub // nil while not running
	ctx       context.Context
	scheduled map[string]int32 // games and their versions
	group     sync.WaitGroup
	made      map[botKey]bot.Bot
}

type botKey struct{ variant, name string }

func newBots(
	pace time.Duration, logger *slog.Logger, retry func(gameIDs ...string), running func(ctx context.Context, state *replay.State) (bool, error),
) *bots {
	return &bots{
		pace: pace, logger: logger, retry: retry, running: running, scheduled: map[string]int32{}, made: map[botKey]bot.Bot{},
		thinkers: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)-1)),
	}
}

// start lets bots move until stop, which waits for those that do and makes the
// games of the others due again.
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
		b.mu.Lock()
		defer b.mu.Unlock()
		b.retry(slices.Collect(maps.Keys(b.scheduled))...)
	}
}

// schedule has the bot whose turn it is move after its pace, less the time that it
// has waited already. It reports false before start and after stop, when no bots
// move on this server.
func (b *bots) schedule(state *replay.State, waited time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.hub == nil {
		return false
	}
	version, ok := b.scheduled[state.ID]
	if ok && version >= state.Version || !ok && len(b.scheduled) >= maxScheduled {
		return true
	}
	hub, ctx := b.hub, b.ctx
	b.scheduled[state.ID] = state.Version
	b.group.Go(func() {
		err := b.moveAfter(ctx, hub, state, b.pace-waited)
		b.mu.Lock()
		if b.scheduled[state.ID] == state.Version && (err == nil || ctx.Err() == nil) {
			delete(b.scheduled, state.ID)
		}
		b.mu.Unlock()
		var conflict *match.VersionConflictError
		if err != nil && ctx.Err() == nil && !errors.As(err, &conflict) && !errors.Is(err, replay.ErrGameOver) {
			b.logger.Warn("bot did not move; its game will be retried", "id", "bot-not-moved", "game", state.ID, "error", err)
			if store.IsError(err) {
				b.retry(state.ID)
			}
		}
	})
	return true
}

// moveAfter has the bot move after a delay whose turn it is in a state.
func (b *bots) moveAfter(ctx context.Context, hub *match.Hub, state *replay.State, delay time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(delay):
	}
	if state.Exhibition() {
		// The server that leases the game schedules a paused one for later.
		if running, err := b.running(ctx, state); err != nil || !running {
			if err == nil && showcased(state) {
				b.retry(state.ID) // It ends now.
			}
			return err
		}
	}
	m, err := hub.Acquire(ctx, state.ID)
	if err != nil {
		return err
	}
	defer m.Release()
	return b.move(ctx, m, state)
}

// move has the bot move whose turn it is in a state of a match.
func (b *bots) move(ctx context.Context, m *match.Match, state *replay.State) error {
	player, err := b.bot(*state.Variant, botToMove(state))
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case b.thinkers <- struct{}{}:
	}
	move, err := b.think(ctx, m, state, player)
	<-b.thinkers
	if err != nil {
		return err
	}
	_, err = m.Do(ctx, match.Call{
		Version: state.Version, Seat: state.Turn(), Action: replay.Moved{Move: move, ByBot: true},
	})
	return err
}

// think has a bot choose a move, until the game moves on without it.
func (b *bots) think(ctx context.Context, m *match.Match, state *replay.State, player bot.Bot) (game.Move, error) {
	thinking, cancel := context.WithTimeout(ctx, thinkFor)
	defer cancel()
	thinking, stop := m.While(thinking, state.Version)
	defer stop()
	move, err := b.choose(thinking, player, state.Position)
	if err != nil && m.State().Version != state.Version {
		err = &match.VersionConflictError{Version: m.State().Version}
	}
	return move, err
}

// choose is player.Choose, with an error if that panics: a fault in a bot must not
// end other games, on one server after the other.
func (b *bots) choose(ctx context.Context, player bot.Bot, position game.Position) (move game.Move, err error) {
	defer func() {
		if r := recover(); r != nil {
			b.logger.Error("bot failed", "id", "bot-panicked", "bot", player.Name(), "panic", r, "stack", string(debug.Stack()))
			err = fmt.Errorf("bot %s failed", player.Name())
		}
	}()
	return player.Choose(ctx, position)
}

// bot returns a bot of a variant. One serves all its games.
func (b *bots) bot(v game.Variant, name string) (bot.Bot, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := botKey{v.ID, name}
	if made, ok := b.made[key]; ok {
		return made, nil
	}
	made, err := bot.New(name, v, bot.Options{})
	if err != nil {
		// Only a newer server knows it.
		return nil, errors.Join(replay.ErrUnknown, err)
	}
	b.made[key] = made
	return made, nil
}
