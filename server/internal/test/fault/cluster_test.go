package fault

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
)

// Ensure that a deployment on several machines works: whole games of all kinds
// on three servers behind one name and a Redis Cluster of three nodes, while a
// node is killed and restarted and a server is killed.
func TestCluster_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	cluster := redistest.StartCluster(t, 3, "--appendonly", "yes", "--appendfsync", "always")
	env := newEnvOn(t, strings.Join(cluster.Addrs(), ","), cluster.Client())
	env.serversDie = true
	doomed := env.serveProcess(env.addr)
	name := behind(env.serveProcess(env.addr), env.serveProcess(env.addr), doomed)
	t.Run("games", func(t *testing.T) {
		for _, v := range solo() {
			t.Run(v.ID, func(t *testing.T) {
				t.Parallel()
				watchWholeGame(t, env, v.ID, name, name)
			})
		}
		for title, table := range tables {
			t.Run("tribolo, "+title, func(t *testing.T) {
				t.Parallel()
				playTable(t, env, table, name, name)
			})
		}
		t.Run("faults", func(t *testing.T) {
			t.Parallel()
			env.awaitProgress(t, 300)
			cluster.Nodes[1].Restart()
			cluster.Await()
			env.awaitProgress(t, 300)
			doomed.stop()
			env.awaitProgress(t, 100)
		})
	})
}

// awaitProgress waits until clients have observed so many more versions.
func (env *env) awaitProgress(t *testing.T, more int) {
	t.Helper()
	target := env.observed.totalVersions() + more
	require.Eventually(t, func() bool { return env.observed.totalVersions() >= target }, patience, 10*time.Millisecond, "nothing goes on")
}
