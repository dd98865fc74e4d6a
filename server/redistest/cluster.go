package redistest

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// StartCluster starts a Redis Cluster of one node, which holds every slot and
// refuses scripts and commands whose keys lie in different ones: enough to show
// that code runs on a cluster. It skips the test where redis-server is missing
// and takes about two seconds, so one test of a package should do.
func StartCluster(t testing.TB) redis.UniversalClient {
	t.Helper()
	server := StartRedis(t, "--cluster-enabled", "yes")
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{server.Addr()}})
	t.Cleanup(func() { _ = client.Close() })

	node := NewClient(t, server.Addr())
	ctx := t.Context()
	if err := node.ClusterAddSlotsRange(ctx, 0, 16383).Err(); err != nil {
		t.Fatalf("giving the cluster its slots: %v", err)
	}
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline); <-poll.C {
		info, err := node.ClusterInfo(ctx).Result()
		if err == nil && strings.Contains(info, "cluster_state:ok") {
			return client
		}
	}
	t.Fatalf("the cluster is not ready within %v", startTimeout)
	return nil
}
