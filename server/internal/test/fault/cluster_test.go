package fault

import (
	"strings"
	"sync"
	"testing"

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
	// The test uses goroutines, because -parallel might not let all games run at the same time.
	var all sync.WaitGroup
	// The faults happen during the longest game, because the other games may end before them.
	faults := map[int32]func(){
		150: func() {
			cluster.Nodes[1].Restart()
			cluster.Await()
		},
		400: doomed.stop,
	}
	for _, v := range solo() {
		all.Go(func() {
			watchWholeGame(t, env, v.ID, name, name, func(version int32) {
				if fault := faults[version]; fault != nil && giveUps[v.ID] == longGame {
					fault()
				}
			})
		})
	}
	for _, table := range tables {
		all.Go(func() { playTable(t, env, table, name, name) })
	}
	all.Wait()
}
