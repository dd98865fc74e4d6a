package lifecycle

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/scheduler"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
	"github.com/gridstand/gridstand/server/limits"
)

// exhibitionsOn makes what one server knows of the games between bots in a store.
func exhibitionsOn(s *store.Store, pauseAfter time.Duration, l limits.Limits) *exhibitions {
	logger := slog.New(slog.DiscardHandler)
	return newExhibitions(Config{
		Exhibitions: s.Exhibitions, Scheduler: scheduler.New(struct{ store.Queue }{}, logger), Logger: logger, Limits: l, PauseAfter: pauseAfter,
	})
}

// wantExceeded requires a refusal for a limit.
func wantExceeded(t *testing.T, err error, field string) {
	t.Helper()
	var exceeded *limits.ExceededError
	require.ErrorAs(t, err, &exceeded)
	assert.Equal(t, field, exceeded.Field)
	assert.Positive(t, exceeded.Retry)
	assert.LessOrEqual(t, exceeded.Retry, 2*time.Hour)
}

// Ensure that no more games run of a player, of an address and in all than the
// limits allow, a running game is renewed at the limit, and a game that ends
// makes room.
func TestExhibitions_Limits(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx, l := t.Context(), limits.Limits{BotGamesPerPlayer: 2, BotGamesPerAddress: 3, BotGamesPerStore: 5}
		here, there := exhibitionsOn(s, time.Hour, l), exhibitionsOn(s, time.Hour, l)
		run := func(e *exhibitions, game, player, address string, began bool) {
			t.Helper()
			got, err := e.run(ctx, game, player, address)
			require.NoError(t, err)
			assert.Equal(t, began, got)
		}
		refused := func(e *exhibitions, game, player, address, field string) {
			t.Helper()
			_, err := e.run(ctx, game, player, address)
			wantExceeded(t, err, field)
			running, err := e.running(ctx, game)
			require.NoError(t, err)
			assert.False(t, running)
		}
		run(here, "a", "ann", "::1", true)
		run(there, "b", "ann", "::1", true)
		run(there, "a", "ann", "::2", false)
		refused(here, "c", "ann", "::2", "bot_games_per_player")
		run(here, "d", "bob", "::1", true)
		refused(there, "e", "bob", "::1", "bot_games_per_address")
		run(there, "e", "bob", "::2", true)
		run(there, "f", "eve", "", true) // of an unknown address
		refused(here, "g", "eve", "::3", "bot_games_per_store")
		running, err := here.running(ctx, "f")
		require.NoError(t, err)
		assert.True(t, running, "as the other server knows")
		require.NoError(t, here.end(ctx, "a"))
		require.NoError(t, here.end(ctx, "a"))
		require.NoError(t, here.end(ctx, "unknown"))
		run(here, "c", "ann", "::1", true)
		refused(here, "g", "eve", "::3", "bot_games_per_store")

		free := exhibitionsOn(s, time.Hour, limits.Limits{})
		for n := range 100 {
			run(free, fmt.Sprint(n), "ann", "::1", true)
		}
	})
}

// Ensure that a game that no client looks at is paused, by the store's clock, and does
// not count after that.
func TestExhibitions_Lapse(t *testing.T) {
	t.Parallel()
	storetest.EachClock(t, func(t *testing.T, s *store.Store, forward func(time.Duration)) {
		ctx, l := t.Context(), limits.Limits{BotGamesPerPlayer: 1}
		e := exhibitionsOn(s, time.Minute, l)
		_, err := e.run(ctx, "a", "ann", "")
		require.NoError(t, err)
		running := func() bool {
			t.Helper()
			running, err := exhibitionsOn(s, time.Minute, l).running(ctx, "a")
			require.NoError(t, err)
			return running
		}
		forward(time.Minute)
		assert.True(t, running())
		_, err = e.run(ctx, "b", "ann", "")
		wantExceeded(t, err, "bot_games_per_player")
		forward(time.Minute / 12)
		assert.False(t, running())
		_, err = e.run(ctx, "b", "ann", "")
		require.NoError(t, err)
		_, err = e.run(ctx, "a", "ann", "")
		wantExceeded(t, err, "bot_games_per_player")
	})
}

// Ensure that the limits hold against servers that let games run at the same
// moment.
func TestExhibitions_Concurrent(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		l := limits.Limits{BotGamesPerPlayer: 4, BotGamesPerAddress: 16, BotGamesPerStore: 20}
		var group sync.WaitGroup
		var began atomic.Int32
		for server := range 3 {
			e := exhibitionsOn(s, time.Hour, l)
			for n := range 40 {
				group.Go(func() {
					ok, err := e.run(t.Context(), fmt.Sprint(server, "-", n), fmt.Sprint("player", n%10), fmt.Sprint("address", n%2))
					var exceeded *limits.ExceededError
					if !errors.As(err, &exceeded) {
						assert.NoError(t, err)
						assert.True(t, ok)
						began.Add(1)
					}
				})
			}
		}
		group.Wait()
		assert.EqualValues(t, 20, began.Load())
	})
}
