//go:build slow

package load_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/load"
	grpctest "github.com/gridstand/gridstand/internal/testkit/grpc"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that a run detects faults in streams: a missing event, a repeated event, an event
// from another game, and a stream that ends too early.
func TestFindsFaults(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	for _, fault := range []string{"gap", "repeat", "loss", "stranger"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			config := small(s)
			var once sync.Once
			config.Server.Target = behind(t, config.Server.Target, func(forward func([]byte) error, message []byte) error {
				response := &pb.WatchResponse{}
				if proto.Unmarshal(message, response) != nil || response.GetEvent() == nil {
					return forward(message)
				}
				faulty := false
				once.Do(func() { faulty = true })
				switch {
				case faulty && fault == "gap":
					return nil
				case faulty && fault == "repeat":
					return errors.Join(forward(message), forward(message))
				case faulty && fault == "loss":
					return io.EOF
				case faulty && fault == "stranger":
					response.GetEvent().GameId = "another"
					message, _ = proto.Marshal(response)
				}
				return forward(message)
			})
			r := run(t, config, delivering)
			require.ErrorIs(t, r.Err(), load.ErrBroken)
			assert.Equal(t, fault == "gap", r.Gaps == 1)
			assert.Equal(t, fault == "repeat", r.Repeats == 1)
			assert.Equal(t, fault == "loss" || fault == "stranger", r.Lost > 0)
			assert.Equal(t, fault == "loss" || fault == "stranger", r.Unfinished == 1)
		})
	}
}

// behind starts a proxy for the server at target. It calls pass for each message of a
// Watch stream. pass forwards the message, or ends the stream by returning an error:
// io.EOF completes the stream, and any other error fails it.
func behind(t *testing.T, target string, pass func(forward func([]byte) error, message []byte) error) string {
	t.Helper()
	conn, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(raw{})))
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer(grpc.ForceServerCodecV2(raw{}), grpc.UnknownServiceHandler(func(_ any, in grpc.ServerStream) error {
		method, _ := grpc.MethodFromServerStream(in)
		forward := func(message []byte) error { return in.SendMsg(&message) }
		var request, response []byte
		if err := in.RecvMsg(&request); err != nil {
			return err
		}
		md, _ := metadata.FromIncomingContext(in.Context())
		ctx, cancel := context.WithCancel(metadata.NewOutgoingContext(in.Context(), md))
		defer cancel()
		out, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method)
		if err == nil {
			err = errors.Join(out.SendMsg(&request), out.CloseSend())
		}
		for err == nil {
			if err = out.RecvMsg(&response); err != nil {
				in.SetTrailer(out.Trailer())
			} else if method == pb.GameService_Watch_FullMethodName {
				err = pass(forward, response)
			} else {
				err = forward(response)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	}))
	t.Cleanup(func() { assert.NoError(t, conn.Close()) })
	grpctest.Serve(t, server, listener)
	return listener.Addr().String()
}

// raw is a codec that passes messages through unchanged.
type raw struct{}

var _ encoding.CodecV2 = raw{}

func (raw) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

func (raw) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

func (raw) Name() string { return "proto" }
