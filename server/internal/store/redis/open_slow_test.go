//go:build slow

package redis

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
)

// Ensure that the start waits for a node of a Redis Cluster while other nodes answer.
func TestOpen_NodeDown(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 2)
	options, err := parseURL(cluster.Nodes[0].URL() + "?cluster=true")
	require.NoError(t, err)
	clients, node := connect(options), cluster.Nodes[1] // which has the slot of the first command
	log := &waiting{stop: func() { node.Restart() }}
	clients.Logger = slog.New(slog.NewTextHandler(log, nil))
	node.Kill()
	require.NoError(t, clients.waitReady(t.Context(), testPatience))
	assert.Contains(t, log.String(), "connection refused")
	require.NoError(t, clients.close())
}
