//go:build slow

package redis

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Ensure that a game is still followed after its slot moves to another node, and that
// followers of other games on the same node are not interrupted.
func TestFeed_ClusterSlotMoves(t *testing.T) {
	t.Parallel()
	cluster, ctx := redistest.StartCluster(t, 2), t.Context()
	s := openAt(t, cluster.Addrs()...)
	var nodes []goredis.UniversalClient
	var ids []string
	for i, n := range cluster.Nodes {
		nodes = append(nodes, redistest.NewClient(t, n.Addr()))
		ids = append(ids, nodes[i].Do(ctx, "cluster", "myid").Val().(string))
	}
	var group sync.WaitGroup
	group.Go(func() { s.Run(ctx) })
	t.Cleanup(group.Wait)
	// There are enough games for each node to have several.
	var games [40]string
	var recorders [40]*recorder
	var last [40]store.ID
	for i := range games {
		games[i], recorders[i] = name(strconv.Itoa(i)), newRecorder()
		s.Feed.Follow(games[i], recorders[i])
	}
	for _, rec := range recorders {
		rec.expect(t, "listening")
	}
	move := func() {
		for i, gameID := range games {
			e := entry(last[i])
			_, err := s.Games.Append(ctx, gameID, e)
			require.NoError(t, err)
			last[i] = e.Next
		}
		for i, rec := range recorders {
			rec.await(t, fmt.Sprintf("version %d", last[i].Version))
		}
	}
	move()
	for i, gameID := range games[:10] {
		slot := int(nodes[0].ClusterKeySlot(ctx, feedKey(gameID)).Val())
		from, to := 0, 1
		if slot >= 8192 {
			from, to = 1, 0
		}
		require.NoError(t, nodes[to].Do(ctx, "cluster", "setslot", slot, "importing", ids[from]).Err())
		require.NoError(t, nodes[from].Do(ctx, "cluster", "setslot", slot, "migrating", ids[to]).Err())
		host, port, _ := strings.Cut(nodes[to].(*goredis.Client).Options().Addr, ":")
		require.NoError(t, nodes[from].Do(ctx, "migrate", host, port, "", 0, 5000, "keys", logKey(gameID), metaKey(gameID)).Err())
		for _, node := range []int{to, from} {
			require.NoError(t, nodes[node].Do(ctx, "cluster", "setslot", slot, "node", ids[to]).Err())
		}
		recorders[i].await(t, "listening")
	}
	for _, rec := range recorders[10:] {
		assert.Empty(t, rec.words)
	}
	move()
}
