package lifecycle

import (
	"log/slog"
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
