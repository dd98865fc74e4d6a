package leaderboard

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/redistest"
)

// BenchmarkBoards sets reading a board of a million entries beside the bare
// commands on the same set.
func BenchmarkBoards(b *testing.B) {
	const entries = 1_000_000
	client := redistest.NewClient(b, redistest.StartRedis(b).Addr())
	ctx := context.Background()
	boards, at := New(client), time.Now()
	all := boardAt("classic", All, at)
	for first := 0; first < entries; first += 10_000 {
		pipe := client.Pipeline()
		for i := first; i < first+10_000; i++ {
			member := must(memberOf(result(i, i, 1, at)))
			pipe.ZAdd(ctx, all.key(), redis.Z{Score: float64(rand.IntN(100_000)), Member: member})
			pipe.HSet(ctx, all.bestKey(), name("player", i), member)
		}
		_, err := pipe.Exec(ctx)
		require.NoError(b, err)
	}

	place := func() int64 { return rand.Int64N(entries - 50) }
	b.Run("ZRANGE", func(b *testing.B) {
		for b.Loop() {
			first := place()
			require.NoError(b, client.ZRevRangeWithScores(ctx, all.key(), first, first+49).Err())
		}
	})
	b.Run("List", func(b *testing.B) {
		for b.Loop() {
			_, err := boards.List(ctx, "classic", All, all.token(place()), 50)
			require.NoError(b, err)
		}
	})
	b.Run("ZREVRANK", func(b *testing.B) {
		for b.Loop() {
			i := rand.IntN(entries)
			require.NoError(b, client.ZRevRank(ctx, all.key(), must(memberOf(result(i, i, 1, at)))).Err())
		}
	})
	b.Run("Rank", func(b *testing.B) {
		for b.Loop() {
			_, _, err := boards.Rank(ctx, "classic", All, name("player", rand.IntN(entries)), 0)
			require.NoError(b, err)
		}
	})
}
