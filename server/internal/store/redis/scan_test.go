package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
)

// Ensure that the scan finds exactly the keys that match the pattern.
func TestScanKeys(t *testing.T) {
	t.Parallel()
	redistest.Each(t, testScanKeys)
}

// Ensure that the scan covers every master of a cluster.
func TestScanKeys_Cluster_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	testScanKeys(t, redistest.StartCluster(t, 3).Client())
}

func testScanKeys(t *testing.T, client goredis.UniversalClient) {
	ctx := t.Context()
	var want []string
	_, err := client.Pipelined(ctx, func(p goredis.Pipeliner) error {
		for i := range 1200 {
			key := fmt.Sprintf("a:{%d}", i)
			want = append(want, key)
			p.Set(ctx, key, "", 0)
			p.Set(ctx, fmt.Sprintf("b:{%d}", i), "", 0)
		}
		return nil
	})
	require.NoError(t, err)
	slices.Sort(want)

	const key = "b:{7}"
	for name, c := range map[string]struct {
		walk func(context.Context, func([]string) error) error
		want []string
	}{
		"everywhere": {
			func(ctx context.Context, visit func([]string) error) error {
				return scanKeys(ctx, client, "a:{*}", visit)
			}, want,
		},
		"beside a key": {
			func(ctx context.Context, visit func([]string) error) error {
				return scanBeside(ctx, client, key, "a:{*}", visit)
			}, beside(t, client, key, want),
		},
	} {
		var found []string
		require.NoError(t, c.walk(ctx, func(keys []string) error {
			found = append(found, keys...)
			return nil
		}), name)
		slices.Sort(found)
		assert.Equal(t, c.want, slices.Compact(found), name)

		enough := errors.New("enough")
		assert.ErrorIs(t, c.walk(ctx, func([]string) error { return enough }), enough, name)
	}
}

// Ensure that the scan finds every member of a sorted set, with its score.
func TestScanMembers(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client goredis.UniversalClient) {
		ctx := t.Context()
		want := map[string]float64{}
		var members []goredis.Z
		for i := range 1200 {
			member := goredis.Z{Member: fmt.Sprint(i), Score: float64(i) - 0.5}
			members, want[fmt.Sprint(i)] = append(members, member), member.Score
		}
		require.NoError(t, client.ZAdd(ctx, "members", members...).Err())
		found := map[string]float64{}
		require.NoError(t, scanMembers(ctx, client, "members", func(members []goredis.Z) error {
			for _, m := range members {
				member, ok := m.Member.(string)
				require.True(t, ok)
				found[member] = m.Score
			}
			return nil
		}))
		assert.Equal(t, want, found)

		enough := errors.New("enough")
		assert.ErrorIs(t, scanMembers(ctx, client, "members", func([]goredis.Z) error { return enough }), enough)
	})
}

// beside returns the keys that are on the same master as the given key.
func beside(t *testing.T, client goredis.UniversalClient, key string, keys []string) []string {
	t.Helper()
	cluster, ok := client.(*goredis.ClusterClient)
	if !ok {
		return keys
	}
	master := func(key string) string {
		m, err := cluster.MasterForKey(t.Context(), key)
		require.NoError(t, err)
		return m.Options().Addr
	}
	var near []string
	for _, k := range keys {
		if master(k) == master(key) {
			near = append(near, k)
		}
	}
	return near
}
