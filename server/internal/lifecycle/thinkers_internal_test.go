package lifecycle

import (
	"context"
	"log/slog"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game/replay"
)

// Ensure that a bot in a player's game thinks before the bots of another player that wait
// longer, but whose bots have thought for longer.
func TestThinkers_Fair(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		thinkers, order := newThinkers(1), make(chan string, 100)
		first, err := thinkers.enter(t.Context(), "flooder")
		require.NoError(t, err)
		wait := func(player string) {
			go func() {
				leave, err := thinkers.enter(t.Context(), player)
				if assert.NoError(t, err) {
					order <- player
					leave(20 * time.Millisecond)
				}
			}()
			synctest.Wait()
		}
		for range 50 {
			wait("flooder")
		}
		wait("ada")
		wait("bob")
		first(20 * time.Millisecond)
		synctest.Wait()
		require.Len(t, order, 52)
		assert.ElementsMatch(t, []string{"ada", "bob"}, []string{<-order, <-order})
		for range 50 {
			assert.Equal(t, "flooder", <-order)
		}
		assert.Empty(t, thinkers.waiting)
		assert.Empty(t, thinkers.running)
		assert.Equal(t, 1, thinkers.free)
	})
}

// Ensure that one player's bots do not think on all processors while another player's bot
// waits, and that they do while none waits.
func TestThinkers_Running(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		thinkers, order := newThinkers(2), make(chan string, 3)
		leaves := make([]func(time.Duration), 2)
		for i := range leaves {
			var err error
			leaves[i], err = thinkers.enter(t.Context(), "flooder")
			require.NoError(t, err)
		}
		leaves[0](0)
		other, err := thinkers.enter(t.Context(), "ada")
		require.NoError(t, err)
		other(time.Second) // ada's bots have thought for longer
		again, err := thinkers.enter(t.Context(), "flooder")
		require.NoError(t, err)
		for _, player := range []string{"flooder", "ada"} {
			go func() {
				leave, err := thinkers.enter(t.Context(), player)
				if assert.NoError(t, err) {
					order <- player
					leave(0)
				}
			}()
			synctest.Wait()
		}
		again(0)
		synctest.Wait()
		assert.Equal(t, "ada", <-order)
		leaves[1](0)
		synctest.Wait()
		assert.Equal(t, "flooder", <-order)
	})
}

// Ensure that a bot whose wait is canceled takes no place.
func TestThinkers_Canceled(t *testing.T) {
	t.Parallel()
	thinkers := newThinkers(1)
	leave, err := thinkers.enter(t.Context(), "ada")
	require.NoError(t, err)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = thinkers.enter(canceled, "bob")
	require.ErrorIs(t, err, context.Canceled)
	leave(0)
	assert.Empty(t, thinkers.waiting)
	assert.Equal(t, 1, thinkers.free)
}

// Ensure that thinking time is forgotten, so that the record of players does not grow.
func TestThinkers_Forget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		thinkers := newThinkers(1)
		for n := range 1000 {
			leave, err := thinkers.enter(t.Context(), strconv.Itoa(n))
			require.NoError(t, err)
			leave(10 * time.Millisecond)
		}
		for range 5 {
			time.Sleep(usageHalved) //nolint:forbidigo // The bubble's clock is fake.
			leave, err := thinkers.enter(t.Context(), "ada")
			require.NoError(t, err)
			leave(0)
		}
		assert.Len(t, thinkers.used, 1)
	})
}

// Ensure that the bots in games from one address share a turn, whichever accounts created the
// games.
func TestBots_Source(t *testing.T) {
	t.Parallel()
	m := &Manager{bots: newBots(0, slog.New(slog.DiscardHandler), nil, nil)}
	of := func(playerID string) string {
		return m.bots.source(&replay.State{Creator: replay.Player{ID: playerID}})
	}
	m.Creates("ada", "192.0.2.1")
	m.Creates("bob", "192.0.2.1")
	m.Creates("eve", "192.0.2.2")
	assert.Equal(t, of("ada"), of("bob"))
	assert.NotEqual(t, of("ada"), of("eve"))
	assert.NotEqual(t, of("tom"), of("kim"), "this server does not know their addresses")
	m.Creates("bob", "192.0.2.2")
	assert.Equal(t, of("eve"), of("bob"))
}

// Ensure that one player's waiting bots do not take all places.
func TestBots_Full(t *testing.T) {
	t.Parallel()
	b := newBots(0, slog.New(slog.DiscardHandler), nil, nil)
	for n := range maxScheduled {
		assert.False(t, b.full("flooder"))
		b.scheduled[strconv.Itoa(n)] = scheduled{1, "flooder"}
		b.sources["flooder"]++
	}
	assert.True(t, b.full("flooder"))
	assert.False(t, b.full("ada"))
	for n := range maxScheduled {
		b.scheduled[strconv.Itoa(maxScheduled+n)] = scheduled{1, strconv.Itoa(n)}
	}
	assert.True(t, b.full("ada"))
}
