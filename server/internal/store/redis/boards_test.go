package redis

import (
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
)

var board = store.Board{Variant: "classic", Window: "all"}

// Ensure that keys, members and expiry times remain compatible with other releases.
func TestBoards_Keys(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx, boards := t.Context(), r.store.Boards
		day := store.Board{Variant: "classic", Window: "day-2999-01-01", Expires: time.Now().Add(time.Hour).Truncate(time.Second)}
		past := store.Board{Variant: "classic", Window: "day-2001-01-01", Expires: time.Date(2001, 1, 8, 0, 0, 0, 0, time.UTC)}
		require.NoError(t, boards.Record(ctx, store.BoardEntry{PlayerID: "p", Score: 1234, Member: "1:p:g"}, board, day, past))

		keys := []string{"scores:{classic:all}", "scores:{classic:day-2999-01-01}"}
		for _, key := range keys {
			assert.Equal(t, []goredis.Z{{Score: 1234, Member: "1:p:g"}}, r.client.ZRangeWithScores(ctx, key, 0, -1).Val(), key)
			assert.Equal(t, map[string]string{"p": "1:p:g"}, r.client.HGetAll(ctx, key+":best").Val(), key)
		}
		assert.ElementsMatch(t, []string{keys[0], keys[0] + ":best", keys[1], keys[1] + ":best"}, r.client.Keys(ctx, "*").Val())
		assert.EqualValues(t, -1, r.client.TTL(ctx, keys[0]).Val())
		assert.EqualValues(t, -1, r.client.TTL(ctx, keys[0]+":best").Val())
		for _, key := range []string{keys[1], keys[1] + ":best"} {
			// miniredis computes the time from the time left.
			assert.InDelta(t, day.Expires.Unix(), r.client.ExpireTime(ctx, key).Val().Seconds(), 1, key)
		}

		require.NoError(t, boards.Hide(ctx, "p"))
		assert.Equal(t, []string{"hidden"}, r.client.Keys(ctx, "*").Val())
		assert.Equal(t, []string{"p"}, r.client.SMembers(ctx, "hidden").Val())
	})
}
