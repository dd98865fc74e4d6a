//go:build slow

package server_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// Ensure that a server is ready while the store accepts moves, and otherwise reports why
// it is not ready. It stays healthy, because replacing the server would not help.
func TestServer_Readyz(t *testing.T) {
	t.Parallel()
	store := redistest.StartRedis(t)
	admin := redistest.NewClient(t, store.Addr())
	c := servertest.Config(t)
	c.Store, c.Metrics = store.URL(), "127.0.0.1:0"
	server, _ := servertest.Start(t, c)
	get := func(path string) (int, string) {
		response, body, err := fetch(t, &http.Transport{}, "http://"+server.MetricsAddr().String()+path)
		require.NoError(t, err)
		return response.StatusCode, body
	}
	becomes := func(code int) string {
		var body string
		waittest.Until(t, fmt.Sprintf("/readyz has the status %d", code), func() bool {
			var now int
			now, body = get("/readyz")
			return now == code
		})
		return body
	}
	assert.Equal(t, "ready\n", becomes(http.StatusOK))
	require.NoError(t, admin.ConfigSet(t.Context(), "maxmemory", "1").Err())
	assert.Contains(t, becomes(http.StatusServiceUnavailable), "OOM")
	code, _ := get("/healthz")
	assert.Equal(t, http.StatusOK, code)
	require.NoError(t, admin.ConfigSet(t.Context(), "maxmemory", "0").Err())
	becomes(http.StatusOK)

	store.Pause()
	t.Cleanup(store.Resume)
	becomes(http.StatusServiceUnavailable)
	store.Resume()
	becomes(http.StatusOK)
}
