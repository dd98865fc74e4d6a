package server

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	middleware "github.com/grpc-ecosystem/go-grpc-middleware/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestRecoverers(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	unary, stream := recoverers(slog.New(slog.NewTextHandler(&log, nil)))

	_, err := unary(t.Context(), nil, &grpc.UnaryServerInfo{}, func(context.Context, any) (any, error) { panic("secret") })
	assert.Equal(t, codes.Internal, status.Code(err))
	assert.Equal(t, "internal error", status.Convert(err).Message())
	assert.Contains(t, log.String(), "panic=secret")
	assert.Contains(t, log.String(), "transport_internal_test.go", "the location of the panic")

	log.Reset()
	err = stream(nil, &middleware.WrappedServerStream{WrappedContext: t.Context()}, &grpc.StreamServerInfo{}, func(any, grpc.ServerStream) error { panic("secret") })
	assert.Equal(t, "internal error", status.Convert(err).Message())
	assert.Contains(t, log.String(), "panic=secret")
}

func TestAdmin(t *testing.T) {
	t.Parallel()
	healthy := true
	var unready error
	a, err := newAdmin(Config{Metrics: "127.0.0.1:0"}, slog.New(slog.DiscardHandler), http.NotFoundHandler(),
		func() bool { return healthy }, func(ctx context.Context) error {
			_, limited := ctx.Deadline()
			assert.True(t, limited, "the store may hang")
			return unready
		})
	require.NoError(t, err)
	defer func() { _ = a.listener.Close() }()
	get := func(path string) int {
		answer := httptest.NewRecorder()
		a.server.Handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		return answer.Code
	}
	assert.Equal(t, http.StatusOK, get("/healthz"))
	healthy = false
	assert.Equal(t, http.StatusServiceUnavailable, get("/healthz"))
	assert.Equal(t, http.StatusOK, get("/readyz"))
	unready = errors.New("OOM")
	assert.Equal(t, http.StatusServiceUnavailable, get("/readyz"))
	assert.Equal(t, http.StatusNotFound, get("/debug/pprof/"), "not enabled")
}
