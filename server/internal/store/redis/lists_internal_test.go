package redis

import (
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/server/internal/store"
)

// playerOfTest is a player, whose list of games has the key gamesOfTest.
const (
	playerOfTest = "aaaaaaaaaaaaaaaaaaaaaaaaaa"
	gamesOfTest  = "player:{" + playerOfTest + "}:games"
)

// Ensure that a player's list lives on while games move, set once in a while, and
// again at their end at the latest if Redis lost it.
func TestLists_PlayersListLasts(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client goredis.UniversalClient) {
		const keep = time.Minute
		s, ctx := newLists(client), t.Context()
		ttl := func(status store.Status) time.Duration {
			l := store.Listing{GameID: "g", Variant: "v", Status: status, Updated: time.Now(), Players: []string{playerOfTest}}
			require.NoError(t, s.Write(ctx, []store.Listing{l}, keep))
			return client.TTL(ctx, gamesOfTest).Val()
		}
		assert.GreaterOrEqual(t, ttl(store.Active), keep)
		require.NoError(t, client.Persist(ctx, gamesOfTest).Err())
		assert.EqualValues(t, -1, ttl(store.Active), "it was just set")
		assert.GreaterOrEqual(t, ttl(store.Finished), keep)

		require.NoError(t, client.Persist(ctx, gamesOfTest).Err())
		s.lasting.Add(playerOfTest, time.Now().Add(-time.Second))
		assert.GreaterOrEqual(t, ttl(store.Active), keep, "a hundredth of the time is over")
	})
}

// Ensure that games that are too old drop out of a player's list when another game
// ends, and that the list expires a little later than the last game; if games are kept
// for ever, neither happens.
func TestLists_PlayersListIsTrimmed(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client goredis.UniversalClient) {
		const month = 30 * 24 * time.Hour
		s, ctx, start := newLists(client), t.Context(), time.Now()
		finish := func(gameID string, at time.Time, keep time.Duration) []string {
			l := store.Listing{GameID: gameID, Variant: "v", Status: store.Finished, Updated: at, Players: []string{playerOfTest}}
			require.NoError(t, s.Write(ctx, []store.Listing{l}, keep))
			return client.ZRevRange(ctx, gamesOfTest, 0, -1).Val()
		}
		assert.Equal(t, []string{"old"}, finish("old", start.Add(-month-time.Hour), 0))
		assert.Equal(t, []string{"young", "old"}, finish("young", start, 0))
		assert.EqualValues(t, -1, client.TTL(ctx, gamesOfTest).Val())

		assert.Equal(t, []string{"young", "old"}, finish("young", start.Add(-time.Hour), month), "none is a month older than the other")
		assert.Equal(t, []string{"young"}, finish("young", start, month))
		assert.InDelta(t, month+month/100, client.TTL(ctx, gamesOfTest).Val(), float64(time.Minute))
	})
}
