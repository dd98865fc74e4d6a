package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gridstand/gridstand/server/internal/rpc"
	"github.com/gridstand/gridstand/server/limits"
)

// Ensure that the interceptors see the same information for a Connect call as for a gRPC
// call. A panic in an inner interceptor must become an error response, and the log message
// must be able to name the call.
func TestInterceptors(t *testing.T) {
	t.Parallel()
	var panicked []string
	mux := http.NewServeMux()
	registerConnect(mux, Config{
		Service: rpc.New(rpc.Config{}), Limits: &limits.Limits{},
		Unary: []grpc.UnaryServerInterceptor{
			func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (_ any, err error) {
				defer func() {
					if recover() != nil {
						method, _ := grpc.Method(ctx)
						panicked = append(panicked, method)
						err = status.Error(codes.Internal, "internal error")
					}
				}()
				return handler(ctx, request)
			},
			func(_ context.Context, _ any, info *grpc.UnaryServerInfo, _ grpc.UnaryHandler) (any, error) {
				panic(info.FullMethod)
			},
		},
	})
	const method = "/gridstand.v1.GameService/ListVariants"
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, method, strings.NewReader("{}"))
	request.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, request)
	assert.Equal(t, http.StatusInternalServerError, answer.Code)
	assert.JSONEq(t, `{"code":"internal","message":"internal error"}`, answer.Body.String())
	assert.Equal(t, []string{method}, panicked)
}
