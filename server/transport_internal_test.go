package server

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAdmin(t *testing.T) {
	t.Parallel()
	healthy := true
	a, err := newAdmin(Config{Metrics: "127.0.0.1:0"}, slog.New(slog.DiscardHandler), http.NotFoundHandler(),
		func() bool { return healthy }, func(ctx context.Context) error {
			_, limited := ctx.Deadline()
			assert.True(t, limited, "the store may hang")
			return nil
		})
	require.NoError(t, err)
	defer func() { _ = a.listener.Close() }()
	get := func(path string) int {
		answer := httptest.NewRecorder()
		a.server.Handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		return answer.Code
	}
	healthy = false
	assert.Equal(t, http.StatusServiceUnavailable, get("/healthz"))
	assert.Equal(t, http.StatusOK, get("/readyz"))
}
