package scan_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/internal/testkit/testmain"
	"github.com/gridstand/gridstand/server/internal/scan"
)

func TestMain(m *testing.M) { testmain.Run(m) }

// Ensure that every key is found that matches, and no other.
func TestKeys(t *testing.T) {
	t.Parallel()
	redistest.Each(t, keys)
}

// Ensure the same of every master of a cluster.
func TestKeys_Cluster(t *testing.T) {
	t.Parallel()
	keys(t, redistest.StartCluster(t, 3).Client())
}

func keys(t *testing.T, client redis.UniversalClient) {
	ctx := t.Context()
	var want []string
	_, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
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
				return scan.Keys(ctx, client, "a:{*}", visit)
			}, want,
		},
		"beside a key": {
			func(ctx context.Context, visit func([]string) error) error {
				return scan.Beside(ctx, client, key, "a:{*}", visit)
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

// beside returns the keys that are on one master with the given key.
func beside(t *testing.T, client redis.UniversalClient, key string, keys []string) []string {
	t.Helper()
	cluster, ok := client.(*redis.ClusterClient)
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
