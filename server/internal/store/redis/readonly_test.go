package redis

import (
	"testing"

	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Ensure that Redis treats the read-only scripts as read-only: they run even while writes
// are paused, for example before a failover.
func TestReadOnlyScripts(t *testing.T) {
	t.Parallel()
	r := newRig(t, redistest.NewClient(t, redistest.StartRedis(t).Addr()))
	last := r.create(name("a"), 1)
	ctx := t.Context()
	require.NoError(t, r.client.ScriptFlush(ctx).Err())
	require.NoError(t, r.client.Do(ctx, "client", "pause", 60_000, "write").Err())
	for range 2 { // by source, then by hash
		tail, err := r.store.Games.Tail(ctx, name("a"))
		require.NoError(t, err)
		require.Equal(t, last, tail.Last)
		_, err = r.store.Boards.Rank(ctx, store.Board{Variant: "classic"}, "ann", 1)
		require.NoError(t, err)
		_, err = r.store.Lists.Page(ctx, store.List{PlayerID: "ann"}, store.Place{}, 1)
		require.NoError(t, err)
	}
	require.NoError(t, r.client.Do(ctx, "client", "unpause").Err())
}
