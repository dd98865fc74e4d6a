//go:build slow

package fault

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// outage is a watched game that continues through an outage of its store.
type outage struct {
	env      *env
	player   *caller
	game     *pb.Game
	watcher  *watcher
	version  int32
	position *pb.Position
}

func startOutage(t *testing.T, env *env, server *testServer) *outage {
	t.Helper()
	player := env.player(server)
	game := player.start(t, "6x6")
	o := &outage{env: env, player: player, game: game, watcher: env.anonymous(server).watch(t, game.GetId(), watching{})}
	event := player.playTo(t, game, 10)
	o.version, o.position = event.GetVersion(), event.GetPosition()
	o.watcher.awaitVersion(t, o.version)
	return o
}

// requireRecovered requires that repeating the call from the outage returns its event, that the
// log has the event once, and that the game continues for the same watcher.
func (o *outage) requireRecovered(t *testing.T, direction pb.Direction) {
	t.Helper()
	event := resend(t, o.player, o.game.GetId(), o.version, direction)
	requireSame(t, event, resend(t, o.player, o.game.GetId(), o.version, direction))
	assert.EqualValues(t, event.GetVersion(), o.env.length(t, o.game.GetId()))
	event = o.player.playTo(t, after(event), event.GetVersion()+10)
	o.version, o.position = event.GetVersion(), event.GetPosition()
	o.watcher.awaitVersion(t, o.version)
}

// finish ends the game and requires that the watcher sees its end.
func (o *outage) finish(t *testing.T) {
	t.Helper()
	_, err := o.player.resign(t.Context(), o.game.GetId())
	require.NoError(t, err)
	require.NoError(t, o.watcher.awaitEnd(t))
	assert.Zero(t, o.watcher.covered())
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
		if r.Code == codes.DeadlineExceeded {
			continue
		}
		require.Equal(t, codes.Unavailable, r.Code, "%v", err)
		require.Equal(t, pb.ReasonStorageUnavailable, r.Reason)
		require.Positive(t, r.RetryAfter)
		return
	}
	require.Fail(t, "no answer within any deadline")
}
