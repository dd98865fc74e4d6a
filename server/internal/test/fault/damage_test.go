package fault

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
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

// damages lists ways to damage a log, each with the last version that remains readable.
var damages = []struct {
	name     string
	readable string
	// do damages gameID's log. other is the ID of another game of the same length.
	do func(t *testing.T, env *env, gameID, other string)
	// inside is set if the damage cannot be detected at the end of the log. A server that has
	// the game in memory reads only the end of the log.
	inside bool
}{
	{name: "emptied", readable: "0", do: func(t *testing.T, env *env, gameID, _ string) {
		require.NoError(t, env.redis.XTrimMaxLen(t.Context(), logKey(gameID), 0).Err())
	}},
	{name: "deleted", readable: "0", do: func(t *testing.T, env *env, gameID, _ string) {
		require.NoError(t, env.redis.Del(t.Context(), logKey(gameID)).Err())
	}},
	{name: "swapped", readable: "0", do: func(t *testing.T, env *env, gameID, other string) {
		env.write(t, gameID, stored{env.read(t, other).entries, env.read(t, gameID).meta})
	}},
	{name: "swapped with its meta", readable: "0", do: func(t *testing.T, env *env, gameID, other string) {
		env.write(t, gameID, env.read(t, other))
	}},
	{name: "without its first entry", readable: "0", do: without(1)},
	{name: "without one of its entries", readable: "3", do: without(4)},
	{name: "without its last entry", readable: "8", do: without(whole)},
	{name: "without its last entries", readable: "5", do: without(6, 7, 8, 9)},
	{name: "with a changed entry", readable: "4", do: func(t *testing.T, env *env, gameID, _ string) {
		s := env.read(t, gameID)
		said, ok := s.entries[4].Values["e"].(string)
		require.True(t, ok)
		for _, e := range s.entries[1:] {
			// Replace the entry with a move in another direction.
			if other, ok := e.Values["e"].(string); ok && other != said {
				s.entries[4].Values["e"] = other
			}
		}
		require.NotEqual(t, said, s.entries[4].Values["e"])
		env.write(t, gameID, s)
	}, inside: true},
	{name: "with an extra entry", readable: "9", do: func(t *testing.T, env *env, gameID, _ string) {
		s := env.read(t, gameID)
		s.entries = append(s.entries, redis.XMessage{ID: "10-1", Values: s.entries[whole-1].Values})
		env.write(t, gameID, s)
	}},
	{name: "shorter than its meta says", readable: "9", do: func(t *testing.T, env *env, gameID, _ string) {
		require.NoError(t, env.redis.HSet(t.Context(), metaKey(gameID), "last", "10-1").Err())
	}},
}

// without returns a function that removes versions from a log.
func without(versions ...int) func(*testing.T, *env, string, string) {
	return func(t *testing.T, env *env, gameID, _ string) {
		entries := env.read(t, gameID).entries
		for _, v := range versions {
			require.NoError(t, env.redis.XDel(t.Context(), logKey(gameID), entries[v-1].ID).Err())
		}
	}
}

// Ensure that a game with a damaged log is reported as damaged both by a server that has it in
// memory and by one that does not, that no server writes to it, and that it can continue once
// its log is restored.
func TestDamagedLog(t *testing.T) {
	t.Parallel()
	onRedis(t, func(t *testing.T, env *env) {
		running := env.player(env.serve())
		fresh := running.on(env.serve())
		guest := env.anonymous(running.server)
		for _, damage := range damages {
			t.Run(damage.name, func(t *testing.T) {
				t.Parallel()
				game, other := running.start(t, "6x6"), running.start(t, "6x6")
				watchers := []*watcher{
					guest.watch(t, game.GetId(), watching{}),
					guest.watch(t, game.GetId(), watching{after: fromStart(), every: true}),
				}
				last := running.playTo(t, seeded(t), game, whole)
				running.playTo(t, seeded(t), other, whole)
				for _, each := range watchers {
					each.awaitVersion(t, whole)
				}

				before := env.read(t, game.GetId())
				env.markDamaged(game.GetId())
				damage.do(t, env, game.GetId(), other.GetId())
				damaged := env.read(t, game.GetId())
				seenBy := []*caller{running, fresh}
				if damage.inside {
					seenBy, watchers = []*caller{fresh}, nil
				}
				for _, c := range seenBy {
					wantRefused(t, c, last, func(t *testing.T, err error) { wantDamaged(t, err, damage.readable) })
				}
				for _, each := range watchers {
					wantDamaged(t, each.awaitEnd(t), damage.readable)
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
			})
		}
	})
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

// Ensure that a server whose memory is ahead of Redis, because Redis went back in time or lost
// the game, refuses to continue the game no matter what Redis contains later.
func TestDamagedLog_RolledBack(t *testing.T) {
	t.Parallel()
	onRedis(t, func(t *testing.T, env *env) {
		running := env.player(env.serve())
		game, lost := running.start(t, "6x6"), running.start(t, "6x6")
		rng := seeded(t)
		early := running.playTo(t, rng, game, 5)
		past := env.read(t, game.GetId())
		game.Version, game.Position = early.GetVersion(), early.GetPosition()
		last := running.playTo(t, rng, game, whole)
		lastOfLost := running.playTo(t, rng, lost, whole)
		env.markDamaged(game.GetId())
		env.markDamaged(lost.GetId())

		env.write(t, game.GetId(), past)
		env.write(t, lost.GetId(), stored{})
		wantRefused(t, running, last, func(t *testing.T, err error) { wantDamaged(t, err, "5") })
		wantRefused(t, running, lastOfLost, func(t *testing.T, err error) { wantDamaged(t, err, "0") })
		assert.Equal(t, past, env.read(t, game.GetId()))

		// A fresh server does not know about the loss, so it continues the game from there.
		fresh := running.on(env.serve())
		wantRefused(t, fresh, lastOfLost, func(t *testing.T, err error) {
			require.Equal(t, pb.ReasonGameNotFound, refusalOf(err).reason)
		})
		r := refusalOf(fresh.watch(t, game.GetId(), watching{after: proto.Int32(whole)}).awaitEnd(t))
		assert.Equal(t, pb.ReasonVersionConflict, r.reason)
		assert.Equal(t, map[string]string{"version": "5"}, r.metadata)

		other := fresh.withOwnObservations(t)
		at, position := early.GetVersion(), early.GetPosition()
		lostMove := env.observed.events[game.GetId()][at+1].GetMoved().GetDirection()
		for at < whole+3 {
			legal := position.GetTwenty48().GetLegalMoves()
			if at == early.GetVersion() { // choose a different move from the lost one, so that the histories diverge
				legal = slices.DeleteFunc(slices.Clone(legal), func(d pb.Direction) bool { return d == lostMove })
			}
			event, err := other.move(t.Context(), game.GetId(), at, legal[len(legal)-1])
			require.NoError(t, err)
			at, position = event.GetVersion(), event.GetPosition()
		}
		_, err := running.get(t.Context(), game.GetId())
		wantDamaged(t, err, "12")
	})
}

// withOwnObservations returns a copy of the client that records its observations separately.
// It is needed when a game's history forks, because the two branches contradict each other.
func (c *caller) withOwnObservations(t *testing.T) *caller {
	t.Helper()
	other := *c
	other.env = &env{t: c.env.t, observed: newObservations()}
	return &other
}

// warnings is a log handler that counts the warnings and errors that a server logs about one
// game.
type warnings struct {
	slog.Handler
	gameID string
	count  *atomic.Int32
}

func (w warnings) Handle(ctx context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if r.Level >= slog.LevelWarn && a.Value.String() == w.gameID {
			w.count.Add(1)
		}
		return true
	})
	return w.Handler.Handle(ctx, r)
}

// Ensure that a server logs only one warning about a damaged game whose clock needs to be
// credited, and does not keep the game in memory.
func TestDamagedLog_Clock_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	env := newEnv(t, redistest.StartRedis(t).Addr())
	game, _ := waitingTable(t, env, env.serve(), time.Hour)
	var count atomic.Int32
	config := testConfig(env.url)
	config.Metrics, config.Idle = "127.0.0.1:0", 4*time.Second
	config.Logger = slog.New(warnings{slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}), game.GetId(), &count})
	running, _ := servertest.Start(t, config)
	metrics := gauges{"http://" + running.MetricsAddr().String()}
	other := env.anonymous(&testServer{addr: running.Addr().String()})
	env.awaitAckedHeartbeats(t, 2) // so that the outage does not overlap a period with appends
	_, err := other.get(t.Context(), game.GetId())
	require.NoError(t, err)

	env.markDamaged(game.GetId())
	before := env.read(t, game.GetId())
	damages[0].do(t, env, game.GetId(), "")
	began := game.GetPosition().GetTurnDeadline().AsTime().Add(-time.Hour).UnixMilli()
	require.NoError(t, env.redis.ZAdd(t.Context(), "outages:{beat}", redis.Z{
		Score: float64(began + 1), Member: fmt.Sprintf("%d %d", began-10_000, began+1),
	}).Err())
	require.Eventually(t, func() bool { return metrics.read(t, "gridstand_games_live") == 0 }, patience, 100*time.Millisecond)
	require.LessOrEqual(t, count.Load(), int32(1))

	env.write(t, game.GetId(), before)
	env.unmarkDamaged(game.GetId())
	_, err = other.get(t.Context(), game.GetId())
	require.NoError(t, err)
}
