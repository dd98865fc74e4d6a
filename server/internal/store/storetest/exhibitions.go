package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
)

// exhibitionRun returns a function that calls Run to let a game run for an hour.
func exhibitionRun(t *testing.T, s *store.Store, limits store.ExhibitionLimits) func(game, player, address string) store.ExhibitionRun {
	return func(game, player, address string) store.ExhibitionRun {
		t.Helper()
		r, err := s.Exhibitions.Run(t.Context(), store.Exhibition{GameIDs: []string{game}, PlayerID: player, Address: address}, time.Hour, limits)
		require.NoError(t, err)
		if r.Full == store.NoLimit {
			require.Zero(t, r.Retry)
		} else {
			require.False(t, r.Resumed)
			require.Positive(t, r.Retry)
			require.LessOrEqual(t, r.Retry, time.Hour)
		}
		return r
	}
}

// exhibitionRuns reports whether a game is running.
func exhibitionRuns(t *testing.T, s *store.Store, game string) bool {
	t.Helper()
	left, err := s.Exhibitions.Left(t.Context(), game)
	require.NoError(t, err)
	require.GreaterOrEqual(t, left, time.Duration(0))
	require.LessOrEqual(t, left, time.Hour)
	return left > 0
}

// Exhibitions tests the contract of store.Exhibitions.
func Exhibitions(t *testing.T, open Open) {
	resumed, running := store.ExhibitionRun{Resumed: true}, store.ExhibitionRun{}
	t.Run("limits bound the number of running games", func(t *testing.T) {
		s := open(t)
		run := exhibitionRun(t, s, store.ExhibitionLimits{PerPlayer: 2, PerAddress: 3, PerStore: 5})
		refused := func(game, player, address string, limit store.ExhibitionLimit) {
			t.Helper()
			assert.Equal(t, limit, run(game, player, address).Full)
			assert.False(t, exhibitionRuns(t, s, game))
		}
		assert.False(t, exhibitionRuns(t, s, "a"))
		assert.Equal(t, resumed, run("a", "ann", "::1"))
		assert.Equal(t, resumed, run("b", "ann", "::1"))
		assert.Equal(t, running, run("a", "ann", "::2"), "a running game continues at the limit")
		refused("c", "ann", "::2", store.PlayerLimit)
		assert.Equal(t, resumed, run("d", "bob", "::1"))
		refused("e", "bob", "::1", store.AddressLimit)
		assert.Equal(t, resumed, run("e", "bob", "::2"))
		assert.Equal(t, resumed, run("f", "eve", ""))
		refused("g", "eve", "::3", store.StoreLimit)
		assert.True(t, exhibitionRuns(t, s, "f"))
		for _, game := range []string{"a", "a", "unknown"} {
			require.NoError(t, s.Exhibitions.End(t.Context(), game))
			assert.False(t, exhibitionRuns(t, s, game))
		}
		assert.Equal(t, resumed, run("c", "ann", "::1"))
		refused("g", "eve", "::3", store.StoreLimit)

		unlimited := exhibitionRun(t, s, store.ExhibitionLimits{})
		for n := range 5 {
			assert.Equal(t, resumed, unlimited(fmt.Sprint(n), "ann", "::1"))
		}
	})
	t.Run("several games run together or not at all", func(t *testing.T) {
		s := open(t)
		limits := store.ExhibitionLimits{PerAddress: 4}
		run := func(games ...string) store.ExhibitionRun {
			t.Helper()
			r, err := s.Exhibitions.Run(t.Context(), store.Exhibition{GameIDs: games, PlayerID: "race", Address: "1"}, time.Hour, limits)
			require.NoError(t, err)
			return r
		}
		assert.Equal(t, resumed, run("a", "b", "c"))
		r := run("d", "e")
		assert.Equal(t, store.AddressLimit, r.Full)
		assert.InDelta(t, time.Hour, r.Retry, float64(time.Minute))
		assert.Equal(t, store.AddressLimit, run("a", "d", "e").Full)
		assert.False(t, exhibitionRuns(t, s, "d"))
		assert.True(t, exhibitionRuns(t, s, "a"))
		assert.Equal(t, resumed, run("c", "d"))
		assert.Equal(t, running, run("a", "b", "c", "d"))
		for _, game := range []string{"a", "b", "c", "d"} {
			require.NoError(t, s.Exhibitions.End(t.Context(), game))
		}
		r = run("a", "b", "c", "d", "e")
		assert.Equal(t, store.ExhibitionRun{Full: store.AddressLimit, Retry: time.Hour}, r, "more than the limit allows at any time")
	})
	t.Run("concurrent calls keep to the limits", func(t *testing.T) {
		s := open(t)
		began := 0
		for _, r := range allSucceed(t, 60, func(n int) (store.ExhibitionRun, error) {
			return s.Exhibitions.Run(t.Context(), store.Exhibition{
				GameIDs: []string{fmt.Sprint(n)}, PlayerID: fmt.Sprint("player", n%10), Address: fmt.Sprint("address", n%2),
			}, time.Hour, store.ExhibitionLimits{PerPlayer: 4, PerAddress: 16, PerStore: 20})
		}) {
			if r.Full == store.NoLimit {
				began++
			}
		}
		assert.Equal(t, 20, began)
	})
}

// ExhibitionsPause tests the clock-dependent part of the contract of store.Exhibitions.
func ExhibitionsPause(t *testing.T, open OpenClock) {
	t.Run("a game is paused unless its run is extended", func(t *testing.T) {
		s, forward := open(t)
		run := exhibitionRun(t, s, store.ExhibitionLimits{PerPlayer: 2})
		run("a", "ann", "")
		forward(time.Minute)
		run("b", "ann", "")
		r := run("c", "ann", "")
		assert.Equal(t, store.PlayerLimit, r.Full)
		assert.InDelta(t, time.Hour-time.Minute, r.Retry, float64(30*time.Second), "until the first game is paused")
		forward(30 * time.Minute)
		run("a", "ann", "")
		forward(30 * time.Minute)
		assert.True(t, exhibitionRuns(t, s, "a"))
		assert.False(t, exhibitionRuns(t, s, "b"))
		assert.True(t, run("c", "ann", "").Resumed)
		assert.Equal(t, store.PlayerLimit, run("b", "ann", "").Full)
		forward(30 * time.Minute)
		assert.False(t, exhibitionRuns(t, s, "a"))
		assert.True(t, run("b", "ann", "").Resumed)
	})
}
