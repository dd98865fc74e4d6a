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

// testPlayer is a player's ID, and testPlayerGames is the key of that player's list.
const (
	testPlayer      = "aaaaaaaaaaaaaaaaaaaaaaaaaa"
	testPlayerGames = "player:{" + testPlayer + "}:games"
)

// Ensure that a player's list gets an expiry when a game waits for players or ends, also one that Redis has
// lost, but not at each move.
func TestLists_PlayersListLasts(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client *goredis.Client) {
		const keep = 24 * time.Hour
		s, ctx := lists{client}, t.Context()
		ttl := func(status store.Status) time.Duration {
			l := store.Listing{GameID: "g", Variant: "v", Status: status, Updated: time.Now(), Players: []string{testPlayer}}
			require.NoError(t, s.Write(ctx, []store.Listing{l}, keep))
			return client.TTL(ctx, testPlayerGames).Val()
		}
		assert.GreaterOrEqual(t, ttl(store.Waiting), keep)
		require.NoError(t, client.Persist(ctx, testPlayerGames).Err())
		assert.EqualValues(t, -1, ttl(store.Active))
		assert.GreaterOrEqual(t, ttl(store.Finished), keep)
	})
}

// Ensure that old games are removed from the lists of finished and of all games, and from a player's list,
// when another game ends, that the player's list expires some time after its last game, and that neither
// happens if games are kept forever.
func TestLists_Trimmed(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client *goredis.Client) {
		const month = 30 * 24 * time.Hour
		s, ctx, start := lists{client}, t.Context(), time.Now()
		finish := func(gameID string, at time.Time, keep time.Duration) []string {
			l := store.Listing{GameID: gameID, Variant: "v", Status: store.Finished, Updated: at, Players: []string{testPlayer}}
			require.NoError(t, s.Write(ctx, []store.Listing{l}, keep))
			listed := func(key string) []string {
				return client.ZRangeArgs(ctx, goredis.ZRangeArgs{Key: key, Start: 0, Stop: -1, Rev: true}).Val()
			}
			for _, key := range []string{"games:recent:*:*", "games:recent:*:v", "games:recent:finished:*", "games:recent:finished:v"} {
				assert.Equal(t, listed(testPlayerGames), listed(key), key)
			}
			return listed(testPlayerGames)
		}
		assert.Equal(t, []string{"old"}, finish("old", start.Add(-month-time.Hour), 0))
		assert.Equal(t, []string{"young", "old"}, finish("young", start, 0))
		assert.EqualValues(t, -1, client.TTL(ctx, testPlayerGames).Val())

		assert.Equal(t, []string{"young", "old"}, finish("young", start.Add(-time.Hour), month), "no game is a month older than the other")
		assert.Equal(t, []string{"young"}, finish("young", start, month))
		assert.InDelta(t, 2*month, client.TTL(ctx, testPlayerGames).Val(), float64(time.Minute))
	})
}
