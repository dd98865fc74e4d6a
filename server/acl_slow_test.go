//go:build slow

package server_test

import (
	"testing"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
)

// TestACL_Cluster is like TestACL but uses a Redis Cluster.
func TestACL_Cluster(t *testing.T) {
	t.Parallel()
	testACL(t, redistest.StartCluster(t, 1, "--appendonly", "yes").Addrs()[0], "?cluster=true")
}
