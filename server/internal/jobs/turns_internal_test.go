package jobs

import (
	"log/slog"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"golang.org/x/sync/semaphore"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
)

// Ensure that the bots of one source think on at most half of the places, and that a bot of another
// source does not wait for more of them than have a place.
func TestBots_InTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for places, own := range map[int]int{1: 1, 2: 1, 4: 2} {
			b := &bots{thinking: semaphore.NewWeighted(int64(places))}
			order, think := make(chan string, 100), make(chan struct{})
			enter := func(id string, from *source) {
				go func() {
					_, err := b.inTurn(t.Context(), from, func() (game.Move, error) {
						order <- id
						<-think
						return game.Move{}, nil
					})
					assert.NoError(t, err)
				}()
				synctest.Wait()
			}
			flooder := &source{thinking: semaphore.NewWeighted(int64(own))}
			for range 50 {
				enter("flooder", flooder)
			}
			assert.Len(t, order, own)
			enter("ada", &source{thinking: semaphore.NewWeighted(int64(own))})
			think <- struct{}{} // one bot of the flooder stops thinking
			synctest.Wait()
			began := map[string]int{}
			for len(order) > 0 {
				began[<-order]++
			}
			assert.Equal(t, 1, began["ada"], "%d places", places)
			assert.LessOrEqual(t, began["flooder"], own+1)
			close(think)
			synctest.Wait()
		}
	})
}

// Ensure that the bots in games from one address share a turn, whichever accounts created the
// games.
func TestBots_Source(t *testing.T) {
	t.Parallel()
	m := &Manager{bots: newBots(0, slog.New(slog.DiscardHandler))}
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
	b := newBots(0, slog.New(slog.DiscardHandler))
	for n := range maxScheduled {
		assert.False(t, b.full("flooder"))
		b.scheduled[strconv.Itoa(n)] = scheduled{1, nil}
		b.sources["flooder"] = &source{}
	}
	assert.True(t, b.full("flooder"))
	assert.False(t, b.full("ada"))
	for n := range maxScheduled {
		b.scheduled[strconv.Itoa(maxScheduled+n)] = scheduled{1, nil}
	}
	assert.True(t, b.full("ada"))
}
