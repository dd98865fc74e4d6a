package redistest

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

const (
	// slots is the number of hash slots in a Redis Cluster.
	slots = 16384
	// meetEvery is longer than the nodes' timeout.
	meetEvery = 5 * time.Second
)

// nodeTimeout is how long, in milliseconds, a node may be silent until the others consider it as
// failed and refuse all commands. A node is silent while it syncs its append-only file.
const nodeTimeout = "60000"

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
	for range nodes {
		c.Nodes = append(c.Nodes, StartRedis(t, append([]string{
			"--cluster-enabled", "yes", "--cluster-node-timeout", nodeTimeout,
		}, args...)...))
	}
	ctx := t.Context()
	for i, n := range c.Nodes {
		client := NewClient(t, n.Addr())
		from, to := i*slots/nodes, (i+1)*slots/nodes-1
		if err := client.ClusterAddSlotsRange(ctx, from, to).Err(); err != nil {
			t.Fatalf("assigning slots to a node: %v", err)
		}
		// Without distinct epochs, the nodes would first have to resolve an epoch conflict.
		if err := client.Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err(); err != nil {
			t.Fatalf("setting the epoch of a node: %v", err)
		}
	}
	if err := c.meet(ctx); err != nil {
		t.Fatalf("joining the cluster: %v", err)
	}
	c.Await()
	return c
}

// meet introduces all nodes to the first one.
func (c *Cluster) meet(ctx context.Context) error {
	host, port, _ := net.SplitHostPort(c.Nodes[0].Addr())
	for _, n := range c.Nodes[1:] {
		client := redis.NewClient(&redis.Options{Addr: n.Addr(), ReadTimeout: waittest.Patience})
		err := client.ClusterMeet(ctx, host, port).Err()
		_ = client.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// Await waits until every node reports that the cluster is complete. It introduces the nodes again
// from time to time, because a node gives up after its node timeout, for instance if the machine
// stalls.
func (c *Cluster) Await() {
	c.t.Helper()
	met := time.Now()
	for _, n := range c.Nodes {
		client := redis.NewClient(&redis.Options{Addr: n.Addr()})
		waittest.Until(c.t, "the cluster is complete", func() bool {
			if time.Since(met) > meetEvery {
				_ = c.meet(c.t.Context())
				met = time.Now()
			}
			info, err := client.ClusterInfo(c.t.Context()).Result()
			return err == nil && whole(info, len(c.Nodes))
		})
		_ = client.Close()
	}
}

func whole(info string, nodes int) bool {
	for _, line := range []string{"cluster_state:ok", "cluster_slots_ok:" + strconv.Itoa(slots), fmt.Sprintf("cluster_known_nodes:%d", nodes)} {
		if !strings.Contains(info, line+"\r\n") {
			return false
		}
	}
	return true
}

// Addrs returns the addresses of the nodes.
func (c *Cluster) Addrs() []string {
	var addrs []string
	for _, n := range c.Nodes {
		addrs = append(addrs, n.Addr())
	}
	return addrs
}

// Client returns a client for the cluster. It is closed when the test ends.
func (c *Cluster) Client() redis.UniversalClient {
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs()})
	c.t.Cleanup(func() { _ = client.Close() })
	return client
}
