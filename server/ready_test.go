package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
)

// Ensure that a server is ready while the store accepts moves, and otherwise reports why
// it is not ready. It stays healthy, because replacing the server would not help.
func TestServer_Readyz(t *testing.T) {
	t.Parallel()
	store := redistest.StartMiniredis(t)
	c := servertest.Config(t)
	c.Store, c.Metrics = "redis://"+store.Addr(), "127.0.0.1:0"
	server, _ := servertest.Start(t, c)
	for _, fault := range []string{"", "OOM", ""} {
		store.SetError(fault)
		for path, isFine := range map[string]bool{"/readyz": fault == "", "/healthz": true} {
			response, body := servertest.Get(t, "http://"+server.MetricsAddr().String()+path)
			assert.Equal(t, isFine, response.StatusCode == http.StatusOK, "%s: %s", path, body)
			assert.Equal(t, !isFine, strings.Contains(body, "OOM"), "%s: %s", path, body)
		}
	}
}
