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
)

// slots is how many a cluster has.
const slots = 16384

// Cluster is a Redis Cluster of one test, each node a process.
type Cluster struct {
	t testing.TB
	// Nodes hold a share of the slots each.
	Nodes []*Server
}

// StartCluster starts a Redis Cluster. It refuses scripts and commands whose
// keys lie in different slots, with one node too, which is enough to show that
// code runs on a cluster. Arguments go to each redis-server as with StartRedis.
// It skips the test if redis-server is missing, and takes some seconds.
func StartCluster(t testing.TB, nodes int, args ...string) *Cluster {
	t.Helper()
	c := &Cluster{t: t}
	for range nodes {
		c.Nodes = append(c.Nodes, StartRedis(t, append([]string{
			"--cluster-enabled", "yes", "--cluster-node-timeout", "2000",
		}, args...)...))
	}
	ctx := t.Context()
	for i, n := range c.Nodes {
		client := NewClient(t, n.Addr())
		from, to := i*slots/nodes, (i+1)*slots/nodes-1
		if err := client.ClusterAddSlotsRange(ctx, from, to).Err(); err != nil {
			t.Fatalf("giving a node its slots: %v", err)
		}
		// Nodes of one epoch would quarrel about it first.
		if err := client.Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err(); err != nil {
			t.Fatalf("giving a node its epoch: %v", err)
		}
		host, port, _ := net.SplitHostPort(c.Nodes[0].Addr())
		if i > 0 {
			if err := client.ClusterMeet(ctx, host, port).Err(); err != nil {
				t.Fatalf("joining the cluster: %v", err)
			}
		}
	}
	c.Await()
	return c
}

// Await waits until every node says that the cluster is whole.
func (c *Cluster) Await() {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), startTimeout)
	defer cancel()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for _, n := range c.Nodes {
		client := redis.NewClient(&redis.Options{Addr: n.Addr()})
		for {
			info, err := client.ClusterInfo(ctx).Result()
			if err == nil && whole(info, len(c.Nodes)) {
				break
			}
			select {
			case <-ctx.Done():
				_ = client.Close()
				c.t.Fatalf("the cluster is not whole within %v: %v %s", startTimeout, err, info)
			case <-poll.C:
			}
		}
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

// Addrs are the nodes' addresses.
func (c *Cluster) Addrs() []string {
	var addrs []string
	for _, n := range c.Nodes {
		addrs = append(addrs, n.Addr())
	}
	return addrs
}

// Client returns a client of the cluster that closes with the test.
func (c *Cluster) Client() redis.UniversalClient {
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs()})
	c.t.Cleanup(func() { _ = client.Close() })
	return client
}
