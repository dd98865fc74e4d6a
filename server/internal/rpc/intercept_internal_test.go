package rpc

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gridstand/gridstand/game/replay"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/account"
)

// Ensure that the panic of a handler becomes an error without details, also in services other than the
// contract's, and is logged with its location.
func TestService_Panics(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := New(Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	check := func(err error) {
		t.Helper()
		assert.Equal(t, codes.Internal, status.Code(err))
		assert.Equal(t, "internal error", status.Convert(err).Message())
		assert.Contains(t, log.String(), "panic=secret")
		assert.Contains(t, log.String(), "intercept_internal_test.go")
		log.Reset()
	}
	ada := identity{player: account.Player{Player: replay.Player{ID: "ada"}}}
	ctx := context.WithValue(t.Context(), identityKey{}, ada)
	for _, method := range []string{pb.GameService_Move_FullMethodName, "/grpc.health.v1.Health/Check"} {
		info := &grpc.UnaryServerInfo{FullMethod: method}
		_, err := s.Unary(ctx, &pb.MoveRequest{}, info, func(context.Context, any) (any, error) { panic("secret") })
		check(err)
		stream := withContext{ctx: ctx}
		check(s.Stream(nil, stream, &grpc.StreamServerInfo{FullMethod: method}, func(any, grpc.ServerStream) error { panic("secret") }))
	}
}
