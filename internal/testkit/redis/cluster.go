package redistest

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// slots is the number of hash slots in a Redis Cluster.
const slots = 16384

// Cluster is a Redis Cluster for one test. Each node is a process.
type Cluster struct {
	t testing.TB
	// Nodes are the nodes of the cluster. Each has a share of the slots.
	Nodes []*Server
}

// StartCluster starts a Redis Cluster. Even a single node refuses scripts and commands whose keys
// lie in different slots, which is enough to show that code runs on a cluster. Arguments are passed
// to each redis-server, as in StartRedis. StartCluster takes several seconds. It skips the test if
// redis-server is missing.
func StartCluster(t testing.TB, nodes int, args ...string) *Cluster {
	t.Helper()
	c := &Cluster{t: t}
	// After this time of silence, the others consider a node as failed and refuse all commands, or give up to
	// meet it. A node is silent while it syncs its append-only file.
	silence := strconv.FormatInt(waittest.Patience.Milliseconds(), 10)
	for i := range nodes {
		c.Nodes = append(c.Nodes, StartRedis(t, append([]string{
			"--cluster-enabled", "yes", "--cluster-node-timeout", silence,
		}, args...)...))
		client := NewClient(t, c.Nodes[i].Addr())
		require.NoError(t, client.ClusterAddSlotsRange(t.Context(), i*slots/nodes, (i+1)*slots/nodes-1).Err())
		// Without distinct epochs, the nodes would first have to resolve an epoch conflict.
		require.NoError(t, client.Do(t.Context(), "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err())
		if i > 0 {
			host, port, _ := net.SplitHostPort(c.Nodes[0].Addr())
			require.NoError(t, client.ClusterMeet(t.Context(), host, port).Err())
		}
	}
	c.Await()
	return c
}

// Await waits until every node reports that the cluster is complete.
func (c *Cluster) Await() {
	c.t.Helper()
	for _, n := range c.Nodes {
		client := NewClient(c.t, n.Addr())
		waittest.Until(c.t, "the cluster is complete", func() bool {
			info, _ := client.ClusterInfo(c.t.Context()).Result() // "" if the node does not answer
			return strings.Contains(info, "cluster_state:ok\r\n") &&
				strings.Contains(info, fmt.Sprintf("cluster_slots_ok:%d\r\n", slots)) &&
				strings.Contains(info, fmt.Sprintf("cluster_known_nodes:%d\r\n", len(c.Nodes)))
		})
	}
}

// Addrs returns the addresses of the nodes.
func (c *Cluster) Addrs() []string {
	var addrs []string
	for _, n := range c.Nodes {
		addrs = append(addrs, n.Addr())
	}
	return addrs
}
