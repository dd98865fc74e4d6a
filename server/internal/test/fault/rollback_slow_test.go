//go:build slow

package fault

import (
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// heartbeats returns the time of each server's last heartbeat.
func (env *env) heartbeats(t *testing.T) map[string]time.Time {
	t.Helper()
	now, err := env.ports().Heartbeats.Servers(t.Context())
	require.NoError(t, err)
	last := map[string]time.Time{}
	for id, s := range now.Servers {
		last[id] = s.At
	}
	return last
}

// awaitAckedHeartbeats waits until every running server has had a heartbeat acknowledged that
// it sent after this call began.
func (env *env) awaitAckedHeartbeats(t *testing.T, servers int) {
	t.Helper()
	began := env.heartbeats(t)
	for range 2 { // Once it sends a second heartbeat, the server knows that the first one was stored.
		require.Eventually(t, func() bool {
			newer := 0
			for id, at := range env.heartbeats(t) {
				if at.After(began[id]) {
					newer++
				}
			}
			return newer == servers
		}, patience, 20*time.Millisecond)
		began = env.heartbeats(t)
	}
}

// awaitRecovery waits until the servers have recovered from a rollback.
func (env *env) awaitRecovery(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		now, err := env.ports().Heartbeats.Servers(t.Context())
		require.NoError(t, err)
		return !now.Rollback.At.IsZero() && now.Rollback.Resolved
	}, patience, 20*time.Millisecond)
}

// awaitDamaged waits until a server reports a game as damaged, and requires that Watch reports
// the same.
func (c *caller) awaitDamaged(t *testing.T, gameID, version string) {
	t.Helper()
	var err error
	require.Eventually(t, func() bool {
		_, err = c.get(t.Context(), gameID)
		return refusalOf(err).code == codes.DataLoss
	}, patience, 50*time.Millisecond, "%s", gameID)
	wantDamaged(t, err, version)
	wantDamaged(t, c.watch(t, gameID, watching{after: fromStart()}).awaitEnd(t), version)
}

// requirePlayable requires that a game can be continued from the given event.
func (c *caller) requirePlayable(t *testing.T, last *pb.Event) {
	t.Helper()
	direction := last.GetPosition().GetTwenty48().GetLegalMoves()[0]
	assert.Equal(t, last.GetVersion()+1, resend(t, c, last.GetGameId(), last.GetVersion(), direction).GetVersion())
}

// rollback holds games on a Redis server that is rolled back.
type rollback struct {
	redis *redistest.Server
	proxy *redistest.Proxy // between running's server and Redis
	// running is a client of the server that had the games lost, kept and later in memory before
	// the rollback. fresh is a client of a server that starts afterwards.
	running, fresh *caller
	// Each of these is an event of a different game. The game lost was continued, and later was
	// created, after the copy was made. The games kept and unknown have not changed since then. The
	// server that running uses knows kept, but no running server knows unknown.
	lost, kept, later, unknown *pb.Event
}

// rollBack plays, copies Redis, continues to play, and restores the copy. It backdates the
// heartbeats in the copy by the duration age, so that the copy appears to be that much older.
func rollBack(t *testing.T, age time.Duration) (*env, *rollback) {
	t.Helper()
	redis := redistest.StartRedis(t)
	env := newEnv(t, redis.Addr())
	r := &rollback{redis: redis, proxy: redistest.StartProxy(t, redis.Addr())}
	r.running = env.player(env.serveVia(r.proxy.Addr()))
	leaving := r.running.on(env.serve())
	start := func(c *caller) *pb.Event { return c.playTo(t, c.start(t, "6x6"), 5) }
	r.lost, r.kept, r.unknown = start(r.running), start(r.running), start(leaving)
	env.anonymous(r.running.server).watch(t, r.kept.GetGameId(), watching{}).awaitVersion(t, 5)
	leaving.server.stop()
	env.awaitAckedHeartbeats(t, 1)

	require.NoError(t, env.redis.Save(t.Context()).Err())
	r.lost = r.running.playTo(t, after(r.lost), whole)
	r.later = start(r.running)
	env.markDamaged(r.lost.GetGameId())
	env.markDamaged(r.later.GetGameId())
	env.awaitAckedHeartbeats(t, 1)

	r.proxy.Refuse()
	redis.Restart()
	for id, at := range env.heartbeats(t) {
		value := env.redis.HGet(t.Context(), "heartbeats:{beat}", id).Val()
		_, rest, _ := strings.Cut(value, " ")
		value = strconv.FormatInt(at.Add(-age).UnixMilli(), 10) + " " + rest
		require.NoError(t, env.redis.HSet(t.Context(), "heartbeats:{beat}", id, value).Err())
	}
	r.proxy.Accept()
	r.fresh = r.running.on(env.serve())
	return env, r
}

// Ensure that a running server notices that Redis was restored from a copy. Games that lost
// events are reported as damaged to all clients; the others continue.
func TestRestored(t *testing.T) {
	t.Parallel()
	env, r := rollBack(t, 0)
	env.awaitRecovery(t)
	for _, c := range []*caller{r.running, r.fresh} {
		c.awaitDamaged(t, r.lost.GetGameId(), "5")
		c.awaitDamaged(t, r.later.GetGameId(), "0")
		c.playScored(t)
	}
	wantRefused(t, r.fresh, r.lost, func(t *testing.T, err error) { wantDamaged(t, err, "5") })
	// Nothing else is damaged, because the only server alive when the copy was taken knows
	// every lost event.
	r.fresh.requirePlayable(t, r.unknown)
	r.fresh.requirePlayable(t, r.kept)
}

// Ensure that after an old copy is restored, games that no running server can attest are
// reported as damaged too, even though they lost no events.
func TestRestored_Old(t *testing.T) {
	t.Parallel()
	env, r := rollBack(t, time.Hour)
	env.markDamaged(r.unknown.GetGameId())
	young := r.fresh.playTo(t, r.fresh.start(t, "6x6"), whole)
	for _, c := range []*caller{r.running, r.fresh} {
		c.awaitDamaged(t, r.lost.GetGameId(), "5")
		c.awaitDamaged(t, r.later.GetGameId(), "0")
		c.awaitDamaged(t, r.unknown.GetGameId(), "5")
	}
	r.fresh.requirePlayable(t, r.kept)
	r.running.requirePlayable(t, young)
}

// Ensure that games that lose moves in a failover to a lagging replica are reported as damaged
// to all clients, no matter how small the lag is, and that the others continue.
func TestFailover(t *testing.T) {
	t.Parallel()
	master := redistest.StartRedis(t, "--repl-diskless-sync-delay", "0")
	_, port, err := net.SplitHostPort(master.Addr())
	require.NoError(t, err)
	replica := redistest.StartRedis(t, "--replicaof", "127.0.0.1 "+port)
	promoted := redistest.NewClient(t, replica.Addr())
	proxy := redistest.StartProxy(t, master.Addr())
	env := newEnv(t, proxy.Addr())
	a := env.player(env.serve())
	b := a.on(env.serve())
	env.awaitAckedHeartbeats(t, 2)
	var lost []*pb.Event
	for _, c := range []*caller{a, b} {
		lost = append(lost, c.playTo(t, c.start(t, "6x6"), 5))
	}
	kept := a.playTo(t, a.start(t, "6x6"), 5)
	require.Eventually(t, func() bool {
		return promoted.XLen(t.Context(), logKey(kept.GetGameId())).Val() == 5
	}, patience, 10*time.Millisecond)
	require.NoError(t, promoted.Do(t.Context(), "REPLICAOF", "NO", "ONE").Err())
	for i, event := range lost {
		c := []*caller{a, b}[i]
		lost[i] = c.playTo(t, after(event), 6)
		env.markDamaged(event.GetGameId())
	}
	master.Kill()
	proxy.Redirect(replica.Addr())
	proxy.Cut()

	for _, event := range lost {
		for _, c := range []*caller{a, b} {
			c.awaitDamaged(t, event.GetGameId(), "5")
		}
	}
	env.awaitRecovery(t)
	b.requirePlayable(t, kept)
}

// Ensure that a game is reported as damaged if its server died together with Redis, even if
// another server, which did not know the game, survived.
func TestRestored_ServerDied(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	env := newEnv(t, redis.Addr())
	running := env.player(env.serve())
	dying := running.on(env.serveProcess())
	var lost []*pb.Event
	for range 10 {
		lost = append(lost, dying.playTo(t, dying.start(t, "6x6"), 5))
	}
	kept := running.playTo(t, running.start(t, "6x6"), 5)
	env.anonymous(running.server).watch(t, kept.GetGameId(), watching{}).awaitVersion(t, 5)
	env.awaitAckedHeartbeats(t, 2)
	require.NoError(t, env.redis.Save(t.Context()).Err())
	for i, event := range lost {
		lost[i] = dying.playTo(t, after(event), whole)
		env.markDamaged(event.GetGameId())
	}
	env.awaitAckedHeartbeats(t, 2)

	dying.server.stop()
	redis.Restart()
	for _, event := range lost {
		running.awaitDamaged(t, event.GetGameId(), "5")
	}
	env.awaitRecovery(t)
	running.requirePlayable(t, kept)
}
