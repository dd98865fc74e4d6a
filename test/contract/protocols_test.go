package contract

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	connecttest "github.com/gridstand/gridstand/internal/testkit/connect"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

const overGRPC = "grpc"

// protocols lists the protocols of calls. Game and challenge streams are also sent as Server-Sent
// Events.
var protocols = []string{overGRPC, connecttest.JSON, connecttest.Binary, connecttest.GRPCWeb}

// dial returns a connection to a server with the given protocol.
func dial(t testing.TB, addr net.Addr, protocol string) grpc.ClientConnInterface {
	t.Helper()
	if protocol == overGRPC || protocol == sse {
		return servertest.Dial(t, addr)
	}
	return connecttest.Dial(t, addr, protocol)
}

// checkedConn checks each response against the rules for all responses. It repeats a unary call
// that the store did not answer, as the contract asks: on a busy machine, a store that runs may
// answer late. Any other refusal is for the test to check.
type checkedConn struct {
	grpc.ClientConnInterface
	t testing.TB
	// storeStopped is set once the test has stopped the store. The connection then repeats
	// nothing.
	storeStopped *atomic.Bool
}

// Invoke implements grpc.ClientConnInterface.
func (c checkedConn) Invoke(ctx context.Context, method string, args, reply any, options ...grpc.CallOption) error {
	return playertest.Retry(ctx, func(ctx context.Context) error {
		var trailer metadata.MD
		err := c.ClientConnInterface.Invoke(ctx, method, args, reply, append(options, grpc.Trailer(&trailer))...)
		if err != nil {
			checkRefusal(c.t, method, err, trailer)
		} else {
			checkMessage(c.t, reply.(proto.Message).ProtoReflect())
		}
		return err
	}, func(err error) bool {
		return refusalOf(c.t, err).info.GetReason() == pb.ReasonStorageUnavailable && !c.storeStopped.Load()
	})
}

// NewStream implements grpc.ClientConnInterface.
func (c checkedConn) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, options ...grpc.CallOption) (grpc.ClientStream, error) {
	stream, err := c.ClientConnInterface.NewStream(ctx, desc, method, options...)
	return &checkedStream{stream, c.t, method}, err
}

type checkedStream struct {
	grpc.ClientStream
	t      testing.TB
	method string
}

// RecvMsg implements grpc.ClientStream.
func (s *checkedStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	switch {
	case err == nil:
		checkMessage(s.t, m.(proto.Message).ProtoReflect())
	case !errors.Is(err, io.EOF):
		checkRefusal(s.t, s.method, err, s.Trailer())
	}
	return err
}
