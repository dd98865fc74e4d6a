//go:build slow

package fault

import (
	"testing"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
)

// Ensure that a deployment on several machines works: nobody loses, repeats or misses an event on
// three servers behind one name and a Redis Cluster of three nodes, while first a node and then
// a server is killed and restarted.
func TestCluster(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 3, redistest.KeepsWrites...)
	env := newEnv(t, cluster.Addrs()...)
	servers := env.startCrew(3)
	tr := env.startTraffic(stormLoad, drawSeed(t), servers...)
	for _, fault := range []func(){
		func() {
			cluster.Nodes[1].Restart()
			cluster.Await()
		},
		func() {
			servers[0].stop()
			env.awaitProgress(t, 100)
			servers[0].restart()
		},
	} {
		env.awaitProgress(t, 300)
		fault()
	}
	env.awaitProgress(t, 300)
	tr.finish(t)
	tr.checkLinearizable(t)
}
