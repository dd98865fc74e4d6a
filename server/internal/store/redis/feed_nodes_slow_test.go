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

// clusterRig is a cluster with a store and followers of many games.
type clusterRig struct {
	t         *testing.T
	nodes     []goredis.UniversalClient
	store     *store.Store
	games     []string
	recorders []*recorder
	last      []store.ID
}

// newClusterRig follows enough games for each node to have several.
func newClusterRig(t *testing.T, nodes int) (*clusterRig, *redistest.Cluster) {
	t.Helper()
	cluster := redistest.StartCluster(t, nodes)
	r := &clusterRig{t: t, store: openAt(t, cluster.Addrs()...)}
	for _, n := range cluster.Nodes {
		r.nodes = append(r.nodes, redistest.NewClient(t, n.Addr()))
	}
	var group sync.WaitGroup
	group.Go(func() { r.store.Run(t.Context()) })
	t.Cleanup(group.Wait)
	for i := range 40 {
		r.games, r.recorders, r.last = append(r.games, name(strconv.Itoa(i))), append(r.recorders, newRecorder()), append(r.last, store.ID{})
		r.store.Feed.Follow(r.games[i], r.recorders[i])
	}
	for _, rec := range r.recorders {
		rec.expect(t, "listening")
	}
	return r, cluster
}

// move appends an entry to each game, and waits until its follower receives it.
func (r *clusterRig) move() {
	r.t.Helper()
	for i, gameID := range r.games {
		e := entry(r.last[i])
		_, err := r.store.Games.Append(r.t.Context(), gameID, e)
		require.NoError(r.t, err)
		r.last[i] = e.Next
	}
	for i, rec := range r.recorders {
		rec.await(r.t, fmt.Sprintf("version %d", r.last[i].Version))
	}
}

// Ensure that a game is still followed after its slot moves to another node, and that
// followers of other games on the same node are not interrupted.
func TestFeed_ClusterSlotMoves(t *testing.T) {
	t.Parallel()
	r, _ := newClusterRig(t, 2)
	r.move()
	ctx := t.Context()
	var ids []string
	for _, node := range r.nodes {
		ids = append(ids, node.Do(ctx, "cluster", "myid").Val().(string))
	}
	for i, gameID := range r.games[:10] {
		slot := int(r.nodes[0].ClusterKeySlot(ctx, feedKey(gameID)).Val())
		from, to := 0, 1
		if slot >= 8192 {
			from, to = 1, 0
		}
		require.NoError(t, r.nodes[to].Do(ctx, "cluster", "setslot", slot, "importing", ids[from]).Err())
		require.NoError(t, r.nodes[from].Do(ctx, "cluster", "setslot", slot, "migrating", ids[to]).Err())
		host, port, _ := strings.Cut(r.nodes[to].(*goredis.Client).Options().Addr, ":")
		require.NoError(t, r.nodes[from].Do(ctx, "migrate", host, port, "", 0, 5000, "keys", logKey(gameID), metaKey(gameID)).Err())
		for _, node := range []int{to, from} {
			require.NoError(t, r.nodes[node].Do(ctx, "cluster", "setslot", slot, "node", ids[to]).Err())
		}
		r.recorders[i].await(t, "listening")
	}
	for _, rec := range r.recorders[10:] {
		assert.Empty(t, rec.words)
	}
	r.move()
}
