package service

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure an answer is counted as unread with its size, and none that comes to a
// call which its client gave up meanwhile: nobody reads it, so that the count
// would only grow until it costs the client the connection.
func TestService_Answered(t *testing.T) {
	t.Parallel()
	response := &pb.GetServerInfoResponse{Name: "gridstand"}
	for name, tt := range map[string]struct {
		giveUp func(context.Context) (context.Context, context.CancelFunc)
		code   codes.Code
		bytes  int
	}{
		"waits":         {context.WithCancel, codes.OK, proto.Size(response)},
		"cancels":       {canceled, codes.Canceled, 0},
		"waits no more": {past, codes.DeadlineExceeded, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bytes := 0
			s := New(Config{Answered: func(_ net.Addr, size int) { bytes += size }})
			ctx, cancel := tt.giveUp(peer.NewContext(t.Context(), &peer.Peer{Addr: &net.TCPAddr{}}))
			defer cancel()
			info := &grpc.UnaryServerInfo{FullMethod: pb.GameService_GetServerInfo_FullMethodName}
			got, err := s.unary(ctx, nil, info, func(context.Context, any) (any, error) { return response, nil })
			require.Equal(t, tt.code, status.Code(err))
			assert.Equal(t, tt.code == codes.OK, got != nil)
			assert.Equal(t, tt.bytes, bytes)
		})
	}
}

func canceled(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx, cancel
}

func past(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithDeadline(ctx, time.Now().Add(-time.Second))
}
