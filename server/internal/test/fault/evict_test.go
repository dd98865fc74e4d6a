package fault

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// info is a number that Redis tells of itself.
func (w *world) info(t *testing.T, section, name string) int {
	t.Helper()
	text, err := w.store.Info(t.Context(), section).Result()
	require.NoError(t, err)
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+":"); ok {
			n, err := strconv.Atoi(value)
			require.NoError(t, err)
			return n
		}
	}
	require.Fail(t, "redis does not tell its "+name)
	return 0
}

// Ensure that a Redis which throws keys away when its memory is full, against
// what servers ask for at their start, loses games and says so: none is shown or
// played on over a hole, by a server that knew it or by one that did not.
func TestRedisEvicts(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	// What is lost is lost: there is nothing to check at its end.
	w := newUnchecked(t, redis.Addr(), redistest.NewClient(t, redis.Addr()))
	running := w.player(w.serve(w.addr))
	var games []*pb.Event
	for range 60 {
		games = append(games, running.playTo(t, seeded(t), running.start(t, "6x6"), 5))
	}
	set := func(name, value string) { require.NoError(t, w.store.ConfigSet(t.Context(), name, value).Err()) }
	set("maxmemory-policy", "allkeys-random")
	set("maxmemory", strconv.Itoa(w.info(t, "memory", "used_memory")-30_000))
	for n := 0; len(w.keys(t.Context(), t, "game:{*}:log")) > len(games)*3/4; n++ {
		require.Less(t, n, 10_000, "redis finds room on and on")
		_ = w.store.Set(t.Context(), "more:"+strconv.Itoa(n), strings.Repeat("x", 2000), 0).Err()
	}
	set("maxmemory", "0")
	set("maxmemory-policy", "noeviction")

	fresh := running.on(w.serve(w.addr))
	// Reads are anonymous: the player's account may be gone too.
	readers := map[*caller]*caller{running: w.anybody(running.server), fresh: w.anybody(fresh.server)}
	lost, kept := 0, 0
	for _, last := range games {
		n := w.length(t, last.GetGameId())
		if n > 0 {
			kept++
			continue // Whether it is damaged depends on what else is gone.
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
		assert.Zero(t, w.length(t, last.GetGameId()), "it is continued over the hole")
	}
	require.Positive(t, lost)
	t.Logf("%d games lost, %d not", lost, kept)
}
