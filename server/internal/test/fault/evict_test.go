package fault

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// info returns a number from Redis's INFO command.
func (env *env) info(t *testing.T, section, name string) int {
	t.Helper()
	text, err := env.redis.Info(t.Context(), section).Result()
	require.NoError(t, err)
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+":"); ok {
			n, err := strconv.Atoi(value)
			require.NoError(t, err)
			return n
		}
	}
	require.Fail(t, "Redis does not report its "+name)
	return 0
}

// Ensure that games are reported as damaged if Redis evicts keys because its memory is full.
// (Servers warn about such a configuration at startup.) No server may show or continue a game
// with missing events, whether or not it has the game in memory.
func TestRedisEvicts(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	// Evicted games are lost, so the store is not checked.
	env := newUncheckedEnv(t, redis.Addr(), redistest.NewClient(t, redis.Addr()))
	running := env.player(env.serveWith(func(c *server.Config) { c.Idle = time.Hour })) // keeps all games in memory
	var games []*pb.Event
	for range 60 {
		games = append(games, running.playTo(t, seeded(t), running.start(t, "6x6"), 5))
	}
	set := func(name, value string) { require.NoError(t, env.redis.ConfigSet(t.Context(), name, value).Err()) }
	set("maxmemory-policy", "allkeys-random")
	set("maxmemory", strconv.Itoa(env.info(t, "memory", "used_memory")-30_000))
	for n := 0; len(env.gameIDs(t.Context(), t)) > len(games)*3/4; n++ {
		require.Less(t, n, 10_000, "Redis does not evict enough keys")
		_ = env.redis.Set(t.Context(), "more:"+strconv.Itoa(n), strings.Repeat("x", 2000), 0).Err()
	}
	set("maxmemory", "0")
	set("maxmemory-policy", "noeviction")

	fresh := running.on(env.serve())
	// Reads are anonymous, because the player's account may have been evicted too.
	readers := map[*caller]*caller{running: env.anonymous(running.server), fresh: env.anonymous(fresh.server)}
	lost, kept := 0, 0
	for _, last := range games {
		n := env.length(t, last.GetGameId())
		if n > 0 {
			kept++
			continue // Whether this game is damaged depends on which other keys were evicted.
		}
		lost++
		for c, reader := range readers {
			_, err := reader.get(t.Context(), last.GetGameId())
			assert.Contains(t, []codes.Code{codes.DataLoss, codes.NotFound}, refusalOf(err).code, "%v", err)
			_, err = c.move(t.Context(), last.GetGameId(), last.GetVersion(), last.GetPosition().GetTwenty48().GetLegalMoves()[0])
			assert.Contains(t, []codes.Code{codes.DataLoss, codes.NotFound, codes.Unauthenticated}, refusalOf(err).code, "%v", err)
		}
		_, err := readers[running].get(t.Context(), last.GetGameId())
		wantDamaged(t, err, "0")
		assert.Zero(t, env.length(t, last.GetGameId()), "the game was continued without its log")
	}
	require.Positive(t, lost)
	t.Logf("%d games lost, %d kept", lost, kept)
}
