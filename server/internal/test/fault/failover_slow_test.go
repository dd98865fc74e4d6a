//go:build slow

package fault

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

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
	var lost []*pb.Game
	for _, c := range []*caller{a, b} {
		lost = append(lost, c.playTo(t, c.start(t, "6x6"), 5))
	}
	kept := a.playTo(t, a.start(t, "6x6"), 5)
	waittest.Until(t, "the replica has the game", func() bool {
		return promoted.XLen(t.Context(), "game:{"+kept.GetId()+"}:log").Val() == 5
	})
	require.NoError(t, promoted.Do(t.Context(), "REPLICAOF", "NO", "ONE").Err())
	for i, game := range lost {
		[]*caller{a, b}[i].playTo(t, game, 6)
		env.damaged[game.GetId()] = true
	}
	master.Kill()
	proxy.Redirect(replica.Addr())
	proxy.Cut()

	for _, game := range lost {
		for _, c := range []*caller{a, b} {
			c.awaitDamaged(t, game.GetId(), "5")
		}
	}
	b.playTo(t, kept, 6)
}

// awaitDamaged waits until a server reports a game as damaged, and requires that Watch reports
// the same.
func (c *caller) awaitDamaged(t *testing.T, gameID, version string) {
	t.Helper()
	var err error
	waittest.Until(t, "the game is damaged", func() bool {
		_, err = c.get(t.Context(), gameID)
		return refusalOf(err).Code == codes.DataLoss
	})
	wantDamaged(t, err, version)
	wantDamaged(t, c.watch(t, gameID, watching{after: fromStart()}).awaitEnd(t), version)
}

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
		waittest.Until(t, "every server has sent a heartbeat", func() bool {
			newer := 0
			for id, at := range env.heartbeats(t) {
				if at.After(began[id]) {
					newer++
				}
			}
			return newer == servers
		})
		began = env.heartbeats(t)
	}
}
