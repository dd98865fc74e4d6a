package server_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// Ensure that a server is ready while the store accepts moves, and otherwise reports why
// it is not ready, each time, unless the store is slow. It stays healthy, because replacing the server would not help.
func TestServer_Readyz(t *testing.T) {
	t.Parallel()
	store := redistest.StartMiniredis(t)
	c := servertest.Config(t)
	c.Store, c.Metrics = "redis://"+store.Addr(), "127.0.0.1:0"
	server, _ := servertest.Start(t, c)
	get := func(path string) (isFine bool, body string) {
		response, body := servertest.Get(t, "http://"+server.MetricsAddr().String()+path)
		return response.StatusCode == http.StatusOK, body
	}
	for _, fault := range []string{"", "OOM", "OOM", ""} {
		store.SetError(fault)
		var isReady bool
		var body string
		waittest.Until(t, "/readyz answers in time", func() bool {
			isReady, body = get("/readyz")
			return !strings.Contains(body, context.DeadlineExceeded.Error())
		})
		assert.Equal(t, fault == "", isReady, body)
		assert.Contains(t, body, fault)
		isHealthy, body := get("/healthz")
		assert.True(t, isHealthy, body)
	}
}
