package fault

import (
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
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

// lastHeartbeat is the time of the latest heartbeat.
func (env *env) lastHeartbeat(t *testing.T) time.Time {
	t.Helper()
	return slices.MaxFunc(slices.Collect(maps.Values(env.heartbeats(t))), time.Time.Compare)
}

// awaitAckedHeartbeats waits until every running server knows that a heartbeat
// which it sends from now on was stored.
func (env *env) awaitAckedHeartbeats(t *testing.T, servers int) {
	t.Helper()
	began := env.heartbeats(t)
	for range 2 { // A server knows of one when it sends the next.
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

// awaitHeartbeatAfter waits for a heartbeat after the given one.
func (env *env) awaitHeartbeatAfter(t *testing.T, since time.Time) {
	t.Helper()
	require.Eventually(t, func() bool { return env.lastHeartbeat(t).After(since) }, patience, 20*time.Millisecond)
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

// awaitDamaged waits until a server reports a game as damaged, and requires the
// same answer to every other call.
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

// requirePlayable requires that a game at a version can be played on.
func (c *caller) requirePlayable(t *testing.T, last *pb.Event) {
	t.Helper()
	direction := last.GetPosition().GetTwenty48().GetLegalMoves()[0]
	assert.Equal(t, last.GetVersion()+1, resend(t, c, last.GetGameId(), last.GetVersion(), direction).GetVersion())
}

// Ensure that that, if Redis is restarted empty under a running server, running
// games are damaged for all clients, also on servers that start later, and that
// new games work.
func TestRestartedEmpty(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	env := newEnv(t, redis.Addr())
	running := env.player(env.serve())
	game, idle := running.start(t, "6x6"), running.start(t, "6x6")
	last := running.playTo(t, seeded(t), game, whole)
	guest := env.anonymous(running.server).watch(t, game.GetId(), watching{})
	guest.awaitVersion(t, whole)
	_, err := running.get(t.Context(), idle.GetId()) // brings it into memory
	require.NoError(t, err)
	env.markDamaged(game.GetId())
	env.markDamaged(idle.GetId())
	env.awaitHeartbeatAfter(t, env.lastHeartbeat(t))
	redis.Restart()

	wantDamaged(t, guest.awaitEnd(t), "0")
	running.awaitDamaged(t, game.GetId(), "0")
	running.awaitDamaged(t, idle.GetId(), "0")
	require.Eventually(t, func() bool { return env.redis.Exists(t.Context(), metaKey(game.GetId())).Val() == 1 }, patience, 20*time.Millisecond)
	fresh := env.anonymous(env.serve())
	fresh.awaitDamaged(t, game.GetId(), "0")
	wantDamaged(t, fresh.watch(t, game.GetId(), watching{after: proto.Int32(last.GetVersion())}).awaitEnd(t), "0")

	// The quarantine covers the past only; new games work.
	assert.Positive(t, env.redis.PTTL(t.Context(), metaKey(game.GetId())).Val())
	for _, server := range []*testServer{running.server, fresh.server} {
		c := env.player(server)
		c.playScored(t)
		c.requirePlayable(t, c.playTo(t, seeded(t), c.start(t, "6x6"), whole))
	}
}

// rollback is games on a Redis that is about to be rolled back.
type rollback struct {
	redis *redistest.Server
	proxy *redistest.Proxy // before running
	// running had lost, kept and later in memory before; fresh is a server that
	// starts after.
	running, fresh *caller
	// lost was played on after the copy was made, and later began after it.
	// kept stands as in the copy, and running has followed it; so does unknown,
	// but no server knows.
	lost, kept, later, unknown *pb.Event
}

// rollBack plays, copies Redis, plays on, and restores the copy, as if it had
// been made so long before.
func rollBack(t *testing.T, age time.Duration) (*env, *rollback) {
	t.Helper()
	redis := redistest.StartRedis(t)
	env := newEnv(t, redis.Addr())
	r := &rollback{redis: redis, proxy: redistest.StartProxy(t, redis.Addr())}
	r.running = env.player(env.serveVia(r.proxy.Addr()))
	leaving := r.running.on(env.serve())
	start := func(c *caller) *pb.Event { return c.playTo(t, seeded(t), c.start(t, "6x6"), 5) }
	r.lost, r.kept, r.unknown = start(r.running), start(r.running), start(leaving)
	env.anonymous(r.running.server).watch(t, r.kept.GetGameId(), watching{}).awaitVersion(t, 5)
	leaving.server.stop()
	env.awaitAckedHeartbeats(t, 1)

	require.NoError(t, env.redis.Save(t.Context()).Err())
	r.lost = r.running.playTo(t, seeded(t), after(r.lost), whole)
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

// Ensure that a running server notices that Redis was restored from a copy:
// games that lost events are damaged for all clients, the others go on.
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
	// The one server that was alive in the copy knows of all that was lost.
	r.fresh.requirePlayable(t, r.unknown)
	r.fresh.requirePlayable(t, r.kept)
}

// Ensure that that, after an old copy is restored, games that no server can
// attest are damaged, too.
func TestRestored_Old_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	env, r := rollBack(t, time.Hour)
	env.markDamaged(r.unknown.GetGameId())
	young := r.fresh.playTo(t, seeded(t), r.fresh.start(t, "6x6"), whole)
	for _, c := range []*caller{r.running, r.fresh} {
		c.awaitDamaged(t, r.lost.GetGameId(), "5")
		c.awaitDamaged(t, r.later.GetGameId(), "0")
		c.awaitDamaged(t, r.unknown.GetGameId(), "5")
	}
	r.fresh.requirePlayable(t, r.kept)
	r.running.requirePlayable(t, young)
}

// Ensure that a server that starts just when Redis is restored from a copy does
// not hide the rollback from the servers that ran before: no server continues a
// game that lost moves.
func TestRestored_AnotherStarts(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	env := newEnv(t, redis.Addr())
	a := env.player(env.serve())
	b := a.on(env.serve())
	env.awaitAckedHeartbeats(t, 2)
	var lost []*pb.Event
	for _, c := range []*caller{a, b} {
		for range 3 {
			lost = append(lost, c.playTo(t, seeded(t), c.start(t, "6x6"), 5))
		}
	}
	require.NoError(t, env.redis.Save(t.Context()).Err())
	for i, event := range lost {
		c := []*caller{a, b}[i/3]
		lost[i] = c.playTo(t, seeded(t), after(event), whole)
		env.markDamaged(event.GetGameId())
	}
	env.awaitAckedHeartbeats(t, 2)

	redis.Kill()
	starts := make(chan struct{})
	go func() {
		defer close(starts)
		redis.Restart()
	}()
	fresh := a.on(env.serve()).withOwnObservations(t)
	<-starts
	defer env.awaitRecovery(t)
	for _, event := range lost {
		// This may happen before the servers know what was lost.
		if game, err := fresh.get(t.Context(), event.GetGameId()); err == nil {
			_, _ = fresh.move(t.Context(), game.GetId(), game.GetVersion(), game.GetPosition().GetTwenty48().GetLegalMoves()[0])
		}
	}
	for _, event := range lost {
		for _, c := range []*caller{a, b, fresh} {
			var err error
			require.Eventually(t, func() bool {
				_, err = c.get(t.Context(), event.GetGameId())
				return refusalOf(err).code == codes.DataLoss
			}, patience, 50*time.Millisecond, "%s is played on", event.GetGameId())
		}
	}
}

// Ensure that games that lost moves in a failover to a lagging replica are
// damaged for all clients, however small the lag, and that the others go on.
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
		lost = append(lost, c.playTo(t, seeded(t), c.start(t, "6x6"), 5))
	}
	kept := a.playTo(t, seeded(t), a.start(t, "6x6"), 5)
	require.Eventually(t, func() bool {
		return promoted.XLen(t.Context(), logKey(kept.GetGameId())).Val() == 5
	}, patience, 10*time.Millisecond)
	require.NoError(t, promoted.Do(t.Context(), "REPLICAOF", "NO", "ONE").Err())
	for i, event := range lost {
		c := []*caller{a, b}[i]
		lost[i] = c.playTo(t, seeded(t), after(event), 6)
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

// Ensure that a game is damaged if its server died together with Redis, even if
// another server lived on that did not know the game.
func TestRestored_ServerDied_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t)
	env := newEnv(t, redis.Addr())
	running := env.player(env.serve())
	dying := running.on(env.serveProcess())
	var lost []*pb.Event
	for range 10 {
		lost = append(lost, dying.playTo(t, seeded(t), dying.start(t, "6x6"), 5))
	}
	kept := running.playTo(t, seeded(t), running.start(t, "6x6"), 5)
	env.anonymous(running.server).watch(t, kept.GetGameId(), watching{}).awaitVersion(t, 5)
	env.awaitAckedHeartbeats(t, 2)
	require.NoError(t, env.redis.Save(t.Context()).Err())
	for i, event := range lost {
		lost[i] = dying.playTo(t, seeded(t), after(event), whole)
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

// Ensure that that, if no server knew more than Redis holds, the operator can
// quarantine: here all running games, before new servers start.
func TestRestored_FreshOnly(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	env := newEnv(t, redis.Addr())
	before := env.player(env.serve())
	over, _ := before.playScored(t)
	lost := before.playTo(t, seeded(t), before.start(t, "6x6"), 5)
	require.NoError(t, env.redis.Save(t.Context()).Err())
	last := before.playTo(t, seeded(t), after(lost), whole)
	before.server.stop()
	redis.Restart()
	env.markDamaged(lost.GetGameId())

	operator := env.operator(t.Context(), t)
	defer operator.Close()
	quarantined, err := operator.QuarantineBefore(t.Context(), time.Time{})
	require.NoError(t, err)
	assert.Equal(t, []string{lost.GetGameId()}, quarantined)
	fresh := before.on(env.serve())
	wantRefused(t, fresh, last, func(t *testing.T, err error) { wantDamaged(t, err, "5") })
	_, err = fresh.get(t.Context(), over)
	require.NoError(t, err)
	fresh.playScored(t)
	fresh.requirePlayable(t, fresh.playTo(t, seeded(t), fresh.start(t, "6x6"), whole))
}
