//go:build slow

package fault

import (
	"strings"
	"testing"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
)

// Ensure that a deployment on several machines works: nobody loses, repeats or misses an event on
// three servers behind one name and a Redis Cluster of three nodes, while a node is killed and
// restarted and a server is killed.
func TestCluster(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 3, redistest.KeepsWrites...)
	env := newEnvOn(t, strings.Join(cluster.Addrs(), ","), cluster.Client())
	env.serversDie = true
	doomed := env.serveProcess()
	tr := env.startTraffic(stormLoad, drawSeed(t), env.serveProcess(), env.serveProcess(), doomed)
	for _, fault := range []func(){
		func() {
			cluster.Nodes[1].Restart()
			cluster.Await()
		},
		doomed.stop,
	} {
		env.awaitProgress(t, 300)
		fault()
	}
	env.awaitProgress(t, 300)
	tr.finish(t)
	tr.checkLinearizable(t)
	t.Log(tr.summary())
}
