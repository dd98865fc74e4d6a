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

// exhibitionsOn returns the exhibitions of a new server that uses the given store.
func exhibitionsOn(s *store.Store, pauseAfter time.Duration, l limits.Limits) *exhibitions {
	logger := slog.New(slog.DiscardHandler)
	return newExhibitions(Config{
		Exhibitions: s.Exhibitions, Scheduler: scheduler.New(struct{ store.Queue }{}, logger), Logger: logger, Limits: l, PauseAfter: pauseAfter,
	})
}

// wantExceeded requires that err names the exceeded limit.
func wantExceeded(t *testing.T, err error, field string) {
	t.Helper()
	var exceeded *limits.ExceededError
	require.ErrorAs(t, err, &exceeded)
	assert.Equal(t, field, exceeded.Field)
	assert.Positive(t, exceeded.Retry)
	assert.LessOrEqual(t, exceeded.Retry, 2*time.Hour)
}

// Ensure that no more games run per player, per address and in total than the limits allow,
// that a running game can keep running when the limit has been reached, and that another
// game can start when one ends.
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
		run(there, "f", "eve", "", true) // an unknown address
		refused(here, "g", "eve", "::3", "bot_games_per_store")
		running, err := here.running(ctx, "f")
		require.NoError(t, err)
		assert.True(t, running, "the other server has started the game")
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

// Ensure that a game that no client views is paused, as timed by the store's clock, and is
// no longer counted.
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

// Ensure that the limits hold if several servers start games concurrently.
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
