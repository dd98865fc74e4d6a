package fault

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// last is the ID of the last entry of a game's log.
func (w *world) last(t *testing.T, gameID string) string {
	t.Helper()
	entries, err := w.store.XRevRangeN(t.Context(), logKey(gameID), "+", "-", 1).Result()
	require.NoError(t, err)
	require.NotEmpty(t, entries)
	return entries[0].ID
}

// length is the number of entries of a game's log.
func (w *world) length(t *testing.T, gameID string) int64 {
	t.Helper()
	n, err := w.store.XLen(t.Context(), logKey(gameID)).Result()
	require.NoError(t, err)
	return n
}

// appending is what the request of an append contains that builds on the given
// last entry of a game, and no other request: the last of its keys, and the
// first of its arguments.
func appending(gameID, last string) string {
	return fmt.Sprintf("game:{%s}:meta\r\n$%d\r\n%s\r\n", gameID, len(last), last)
}

// Ensure that an append whose answer is lost counts once, and that the caller
// still gets its event.
func TestLostReply(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		proxy := redistest.StartProxy(t, w.addr)
		c := w.player(w.serve(proxy.Addr()))
		game := c.start(t, "classic")
		guest := w.anybody(c.server).watch(t, game.GetId(), watching{})
		guest.sees(t, 1)
		rng := seeded(t)
		version, position := game.GetVersion(), game.GetPosition()
		for range 5 {
			lost := proxy.Lose(1, appending(game.GetId(), w.last(t, game.GetId())))
			event, err := c.move(t.Context(), game.GetId(), version, random(rng, position))
			require.NoError(t, err)
			<-lost
			version, position = event.GetVersion(), event.GetPosition()
			require.EqualValues(t, version, w.length(t, game.GetId()))
			requireSame(t, event, again(t, c, game.GetId(), version-1, event.GetMoved().GetDirection()))
		}
		lost := proxy.Lose(1, appending(game.GetId(), w.last(t, game.GetId())))
		event, err := c.resign(t.Context(), game.GetId())
		require.NoError(t, err)
		<-lost
		assert.Equal(t, version+1, event.GetVersion())
		require.NoError(t, guest.ends(t))
		assert.Zero(t, guest.covered())
	})
}

// Ensure that a game whose creation has no answer is created once.
func TestLostReply_create(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		proxy := redistest.StartProxy(t, w.addr)
		c := w.player(w.serve(proxy.Addr()))
		lost := proxy.Lose(1, ":meta\r\n$0\r\n\r\n")
		request := ofVariant("classic")
		game, err := c.create(t.Context(), request)
		require.NoError(t, err)
		<-lost
		again, err := c.create(t.Context(), request)
		require.NoError(t, err)
		requireSame(t, game, again)
		logs, err := w.store.Keys(t.Context(), "game:{*}:log").Result()
		require.NoError(t, err)
		assert.Len(t, logs, 1)
	})
}

// Ensure that a caller whose call is in the log, but whose server cannot know,
// is told to come again, and then gets the event: from that server or another.
func TestLostReply_unsettled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		proxy := redistest.StartProxy(t, w.addr)
		here := w.player(w.serve(proxy.Addr()))
		there := here.on(w.serve(w.addr))
		rng := seeded(t)
		for _, asksAgain := range []*caller{here, there} {
			game := here.start(t, "classic")
			watcher := w.anybody(here.server).watch(t, game.GetId(), watching{})
			watcher.sees(t, 1)
			direction := random(rng, game.GetPosition())

			lost := proxy.Sever(appending(game.GetId(), w.last(t, game.GetId())))
			wantUnavailable(t, func(ctx context.Context) error {
				_, err := here.move(ctx, game.GetId(), 1, direction)
				return err
			})
			<-lost
			require.EqualValues(t, 2, w.length(t, game.GetId()))
			if asksAgain == here {
				proxy.Accept()
			}
			event := again(t, asksAgain, game.GetId(), 1, direction)
			proxy.Accept()
			require.EqualValues(t, 2, w.length(t, game.GetId()))

			again(t, here, game.GetId(), 2, random(rng, event.GetPosition()))
			_, err := there.resign(t.Context(), game.GetId())
			require.NoError(t, err)
			require.NoError(t, watcher.ends(t))
		}
	})
}

// Ensure that an answer which comes long after its caller was told to come
// again is not taken for the answer to something else.
func TestLateReply(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		proxy := redistest.StartProxy(t, w.addr)
		c := w.player(w.serve(proxy.Addr()))
		game := c.start(t, "6x6")
		watcher := w.anybody(c.server).watch(t, game.GetId(), watching{})
		watcher.sees(t, 1)
		rng := seeded(t)
		version, position := game.GetVersion(), game.GetPosition()
		for range 3 {
			direction := random(rng, position)
			release := proxy.Hold()
			wantUnavailable(t, func(ctx context.Context) error {
				_, err := c.move(ctx, game.GetId(), version, direction)
				return err
			})
			release()
			event := again(t, c, game.GetId(), version, direction)
			version, position = event.GetVersion(), event.GetPosition()
			require.EqualValues(t, version, w.length(t, game.GetId()))
		}
		require.NoError(t, retry(t.Context(), func(ctx context.Context) error {
			_, err := c.resign(ctx, game.GetId())
			return err
		}))
		require.NoError(t, watcher.ends(t))
	})
}

// again makes a move until it is answered.
func again(t *testing.T, c *caller, gameID string, version int32, d pb.Direction) *pb.Event {
	t.Helper()
	var event *pb.Event
	require.NoError(t, retry(t.Context(), func(ctx context.Context) (err error) {
		event, err = c.move(ctx, gameID, version, d)
		return err
	}))
	return event
}

// wantUnavailable makes a call until it is answered, within its deadline, with
// a request to come again. Where the machine is so busy that the answer misses
// the deadline, it tries with a later one.
func wantUnavailable(t *testing.T, call func(context.Context) error) {
	t.Helper()
	for allowed := 300 * time.Millisecond; allowed < patience; allowed *= 2 {
		ctx, cancel := context.WithTimeout(t.Context(), allowed)
		err := call(ctx)
		cancel()
		require.Error(t, err)
		r := refusalOf(err)
		if r.code == codes.DeadlineExceeded {
			continue
		}
		require.Equal(t, codes.Unavailable, r.code, "%v", err)
		require.Equal(t, pb.ReasonStorageUnavailable, r.reason)
		require.Positive(t, r.retry)
		return
	}
	require.Fail(t, "no answer within any deadline")
}

// Ensure that Redis can forget every script, as after a restart, while people
// move.
func TestScriptsForgotten(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		moveThrough(t, w, w.addr, 15, func(ctx context.Context) error { return w.store.ScriptFlush(ctx).Err() })
	})
}

// Ensure that connections to Redis can be cut while people move.
func TestConnectionsCut(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		proxy := redistest.StartProxy(t, w.addr)
		moveThrough(t, w, proxy.Addr(), 15, func(context.Context) error {
			proxy.Cut()
			return nil
		})
	})
}

// Ensure that Redis can end its connections, those on which servers listen too.
func TestConnectionsKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, redistest.StartRedis(t).Addr())
	moveThrough(t, w, w.addr, 15, func(ctx context.Context) error {
		_, err := w.store.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, kind := range []string{"normal", "pubsub"} {
				p.ClientKillByFilter(ctx, "TYPE", kind, "SKIPME", "yes")
			}
			return nil
		})
		return err
	})
}
