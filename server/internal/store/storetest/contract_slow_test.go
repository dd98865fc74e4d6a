//go:build slow

package storetest_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

func init() { storetest.Models = 30 }

func TestRedis(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T) storetest.Open {
		server := redistest.StartRedis(t)
		return func(t *testing.T) *store.Store {
			client := redistest.NewClient(t, server.Addr())
			require.NoError(t, client.FlushAll(t.Context()).Err())
			return storetest.OnRedis(t, server.Addr())
		}
	})
}

func TestCluster(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T) storetest.Open {
		cluster := redistest.StartCluster(t, 3)
		return func(t *testing.T) *store.Store {
			for _, node := range cluster.Nodes {
				require.NoError(t, redistest.NewClient(t, node.Addr()).FlushAll(t.Context()).Err())
			}
			return storetest.OnRedis(t, cluster.Addrs()...)
		}
	})
}

func TestSQLite_File(t *testing.T) {
	t.Parallel()
	run(t, func(*testing.T) storetest.Open {
		return func(t *testing.T) *store.Store {
			return storetest.OnSQLite(t, sqlite.Options{Path: filepath.Join(t.TempDir(), "store.db")})
		}
	})
}
