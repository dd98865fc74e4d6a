package fault

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// appending returns a string that identifies the request that appends the next entry after a
// game's given last entry. The string is the last of the request's keys and the first of its
// arguments.
func appending(gameID, last string) string {
	return fmt.Sprintf("game:{%s}:meta\r\n$%d\r\n%s\r\n", gameID, len(last), last)
}

// Ensure that an append whose reply is lost takes effect once, and that the caller still gets
// the game or the event, or is told to retry.
func TestLostReply(t *testing.T) {
	t.Parallel()
	onRedis(t, func(t *testing.T, env *env) {
		proxy := redistest.StartProxy(t, env.addr)
		c := env.player(env.serveVia(proxy.Addr()))
		created := proxy.Lose(1, ":meta\r\n$0\r\n\r\n")
		request := ofVariant("classic")
		game, err := c.create(t.Context(), request)
		require.NoError(t, err)
		<-created
		again, err := c.create(t.Context(), request)
		require.NoError(t, err)
		requireSame(t, game, again)
		assert.Len(t, env.gameIDs(t.Context(), t), 1)

		guest := env.anonymous(c.server).watch(t, game.GetId(), watching{})
		guest.awaitVersion(t, 1)
		rng := seeded(t)
		version, position := game.GetVersion(), game.GetPosition()
		for range 5 {
			lost := proxy.Lose(1, appending(game.GetId(), env.last(t, game.GetId())))
			event, err := c.move(t.Context(), game.GetId(), version, random(rng, position))
			require.NoError(t, err)
			<-lost
			version, position = event.GetVersion(), event.GetPosition()
			require.EqualValues(t, version, env.length(t, game.GetId()))
			requireSame(t, event, resend(t, c, game.GetId(), version-1, event.GetMoved().GetDirection()))
		}
		lost := proxy.Lose(1, appending(game.GetId(), env.last(t, game.GetId())))
		event, err := c.resign(t.Context(), game.GetId())
		require.NoError(t, err)
		<-lost
		assert.Equal(t, version+1, event.GetVersion())
		require.NoError(t, guest.awaitEnd(t))
		assert.Zero(t, guest.covered())

		// If the server cannot know that the call is in the log, the retry returns the event, whether
		// from that server or another.
		here, there := c, c.on(env.serve())
		for _, asksAgain := range []*caller{here, there} {
			game := here.start(t, "classic")
			watcher := env.anonymous(here.server).watch(t, game.GetId(), watching{})
			watcher.awaitVersion(t, 1)
			direction := random(rng, game.GetPosition())

			lost := proxy.Sever(appending(game.GetId(), env.last(t, game.GetId())))
			wantUnavailable(t, func(ctx context.Context) error {
				_, err := here.move(ctx, game.GetId(), 1, direction)
				return err
			})
			<-lost
			require.EqualValues(t, 2, env.length(t, game.GetId()))
			if asksAgain == here {
				proxy.Accept()
			}
			event := resend(t, asksAgain, game.GetId(), 1, direction)
			proxy.Accept()
			require.EqualValues(t, 2, env.length(t, game.GetId()))

			resend(t, here, game.GetId(), 2, random(rng, event.GetPosition()))
			_, err := there.resign(t.Context(), game.GetId())
			require.NoError(t, err)
			require.NoError(t, watcher.awaitEnd(t))
		}
	})
}

// resend repeats a move until a server answers it.
func resend(t *testing.T, c *caller, gameID string, version int32, d pb.Direction) *pb.Event {
	t.Helper()
	event, err := c.move(t.Context(), gameID, version, d)
	require.NoError(t, err)
	return event
}

// wantUnavailable requires that a call is refused as unavailable before its deadline. On a busy
// machine the response may miss the deadline, so wantUnavailable retries with longer deadlines.
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
