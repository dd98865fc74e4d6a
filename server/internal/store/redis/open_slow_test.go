//go:build slow

package redis

import (
	"testing"

	"github.com/stretchr/testify/assert"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
)

// Ensure that the start waits for a node of a Redis Cluster while other nodes answer.
func TestOpen_NodeDown(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 2)
	node := cluster.Nodes[1] // which has the slot of the first command
	node.Kill()
	_, log := waits(t, cluster.Nodes[0].URL()+"?cluster=true", func() { node.Restart() })
	assert.Contains(t, log, "connection refused")
}
