//go:build slow

package fault

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// whole is a game's version before its log is damaged.
const whole = 9

// stored is a game's log and meta as stored in Redis.
type stored struct {
	entries []redis.XMessage
	meta    map[string]string
}

func logKey(gameID string) string  { return "game:{" + gameID + "}:log" }
func metaKey(gameID string) string { return "game:{" + gameID + "}:meta" }

// read reads everything that a move would change, except for the number of watchers, which may
// also change without a move.
func (env *env) read(t *testing.T, gameID string) stored {
	t.Helper()
	entries, err := env.redis.XRange(t.Context(), logKey(gameID), "-", "+").Result()
	require.NoError(t, err)
	meta, err := env.redis.HGetAll(t.Context(), metaKey(gameID)).Result()
	require.NoError(t, err)
	delete(meta, "watchers")
	return stored{entries, meta}
}

// write replaces a game's log and meta.
func (env *env) write(t *testing.T, gameID string, s stored) {
	t.Helper()
	_, err := env.redis.TxPipelined(t.Context(), func(p redis.Pipeliner) error {
		p.Del(t.Context(), logKey(gameID), metaKey(gameID))
		for _, e := range s.entries {
			p.XAdd(t.Context(), &redis.XAddArgs{Stream: logKey(gameID), ID: e.ID, Values: e.Values})
		}
		if len(s.meta) > 0 {
			p.HSet(t.Context(), metaKey(gameID), s.meta)
		}
		return nil
	})
	require.NoError(t, err)
}

// Ensure that a game with a damaged log is reported as damaged both by a server that has it in
// memory and by one that does not, that no server writes to it, and that it can continue once
// its log is restored. Package gamelog tests other kinds of damage.
func TestDamagedLog(t *testing.T) {
	t.Parallel()
	env := newRedisEnv(t)
	running := env.player(env.serve())
	fresh := running.on(env.serve())
	guest := env.anonymous(running.server)
	game := running.start(t, "6x6")
	watchers := []*watcher{
		guest.watch(t, game.GetId(), watching{}),
		guest.watch(t, game.GetId(), watching{after: fromStart(), every: true}),
	}
	last := running.playTo(t, game, whole)
	for _, each := range watchers {
		each.awaitVersion(t, whole)
	}

	before := env.read(t, game.GetId())
	env.markDamaged(game.GetId())
	require.NoError(t, env.redis.XDel(t.Context(), logKey(game.GetId()), before.entries[3].ID).Err())
	damaged := env.read(t, game.GetId())
	for _, c := range []*caller{running, fresh} {
		wantRefused(t, c, last, func(t *testing.T, err error) { wantDamaged(t, err, "3") })
	}
	for _, each := range watchers {
		wantDamaged(t, each.awaitEnd(t), "3")
	}
	assert.Equal(t, damaged, env.read(t, game.GetId()), "something was written")

	env.write(t, game.GetId(), before)
	env.unmarkDamaged(game.GetId())
	back := guest.watch(t, game.GetId(), watching{after: proto.Int32(whole)})
	_, err := fresh.resign(t.Context(), game.GetId())
	require.NoError(t, err)
	require.NoError(t, back.awaitEnd(t))
	final, err := running.get(t.Context(), game.GetId())
	require.NoError(t, err)
	assert.EqualValues(t, whole+1, final.GetVersion())
}

// wantRefused requires that every call on a game is refused.
func wantRefused(t *testing.T, c *caller, last *pb.Event, want func(*testing.T, error)) {
	t.Helper()
	gameID := last.GetGameId()
	for _, d := range last.GetPosition().GetTwenty48().GetLegalMoves() {
		_, err := c.move(t.Context(), gameID, last.GetVersion(), d)
		want(t, err)
	}
	_, err := c.resign(t.Context(), gameID)
	want(t, err)
	_, err = c.get(t.Context(), gameID)
	want(t, err)
	for _, after := range []*int32{nil, fromStart(), proto.Int32(3), proto.Int32(last.GetVersion())} {
		want(t, c.watch(t, gameID, watching{after: after}).awaitEnd(t))
	}
}
