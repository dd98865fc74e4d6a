package fault

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
)

// Ensure more than one machine's worth: whole games of all sorts on three
// servers behind one name, over which clients spread their calls, and on a Redis
// Cluster of three nodes, while a node is killed and comes back and a server is
// killed and does not.
func TestCluster_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	cluster := redistest.StartCluster(t, 3, "--appendonly", "yes", "--appendfsync", "always")
	w := newWorldOn(t, strings.Join(cluster.Addrs(), ","), cluster.Client())
	w.rough = true
	doomed := w.serveProcess(w.addr)
	name := behind(w.serveProcess(w.addr), w.serveProcess(w.addr), doomed)
	t.Run("games", func(t *testing.T) {
		for _, v := range solo() {
			t.Run(v.ID, func(t *testing.T) {
				t.Parallel()
				watchWholeGame(t, w, v.ID, name, name)
			})
		}
		for title, table := range tables {
			t.Run("tribolo, "+title, func(t *testing.T) {
				t.Parallel()
				playTable(t, w, table, name, name)
			})
		}
		t.Run("faults", func(t *testing.T) {
			t.Parallel()
			w.progress(t, 300)
			cluster.Nodes[1].Restart()
			cluster.Await()
			w.progress(t, 300)
			doomed.stop()
			w.progress(t, 100)
		})
	})
}

// progress waits until people were told so many more versions of their games.
func (w *world) progress(t *testing.T, more int) {
	t.Helper()
	target := w.told.versions() + more
	require.Eventually(t, func() bool { return w.told.versions() >= target }, patience, 10*time.Millisecond, "nothing goes on")
}
