package fault

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
)

// Ensure that a deployment on several machines works: games of all kinds run to the end on
// three servers behind one name and a Redis Cluster of three nodes, while a node is killed and
// restarted and a server is killed.
func TestCluster_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	cluster := redistest.StartCluster(t, 3, redistest.KeepsWrites...)
	env := newEnvOn(t, strings.Join(cluster.Addrs(), ","), cluster.Client())
	env.serversDie = true
	doomed := env.serveProcess()
	name := behind(env.serveProcess(), env.serveProcess(), doomed)
	// The test uses goroutines, because -parallel might not let a parallel subtest run alongside
	// the one that waits for progress.
	var all sync.WaitGroup
	for _, v := range solo() {
		all.Go(func() { watchWholeGame(t, env, v.ID, name, name) })
	}
	for _, table := range tables {
		all.Go(func() { playTable(t, env, table, name, name) })
	}
	defer all.Wait()
	env.awaitProgress(t, 300)
	cluster.Nodes[1].Restart()
	cluster.Await()
	env.awaitProgress(t, 300)
	doomed.stop()
	env.awaitProgress(t, 100)
}

// awaitProgress waits until clients have observed the given number of additional versions. On a slow
// machine, each version may take long.
func (env *env) awaitProgress(t *testing.T, more int) {
	t.Helper()
	target := env.observed.totalVersions() + more
	for seen := target - more; seen < target; seen = env.observed.totalVersions() {
		require.Eventually(t, func() bool { return env.observed.totalVersions() > seen }, patience, 10*time.Millisecond, "no progress")
	}
}
