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
	"go.uber.org/goleak"

	"github.com/gridstand/gridstand/server/redistest"
	"github.com/gridstand/gridstand/server/scan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Ensure that every key is found that matches, and no other.
func TestKeys(t *testing.T) {
	t.Parallel()
	redistest.Each(t, keys)
}

// Ensure the same of every master of a cluster.
func TestKeys_cluster(t *testing.T) {
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

	for name, walk := range map[string]func(context.Context, func([]string) error) error{
		"everywhere": func(ctx context.Context, visit func([]string) error) error {
			return scan.Keys(ctx, client, "a:{*}", visit)
		},
		"beside a key": func(ctx context.Context, visit func([]string) error) error {
			return scan.Beside(ctx, client, "b:{7}", "a:{*}", visit)
		},
	} {
		var found []string
		require.NoError(t, walk(ctx, func(keys []string) error {
			found = append(found, keys...)
			return nil
		}), name)
		slices.Sort(found)
		assert.Equal(t, want, slices.Compact(found), name)

		enough := errors.New("enough")
		assert.ErrorIs(t, walk(ctx, func([]string) error { return enough }), enough, name)
	}
}
