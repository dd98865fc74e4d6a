// Package connecttest makes calls over Connect and gRPC-Web through the generated gRPC clients,
// so that tests of the contract cover all protocols. Only tests import it.
package connecttest

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"connectrpc.com/connect"
	statuspb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// The protocols that Dial supports.
const (
	JSON    = "connect-json"
	Binary  = "connect"
	GRPCWeb = "grpc-web"
	// GRPC is connect-go's implementation of gRPC, which also works over HTTP/1.1.
	GRPC = "grpc-connect"
)

// Dial returns a connection to a server over HTTP/1.1 that uses one of the protocols. Its sockets are
// closed when the test ends.
func Dial(t testing.TB, addr net.Addr, protocol string) grpc.ClientConnInterface {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 1 << 10}
	t.Cleanup(transport.CloseIdleConnections)
	c := &conn{base: "http://" + addr.String(), client: &http.Client{Transport: transport}}
	codec := codec{name: "proto"}
	switch protocol {
	case JSON:
		codec.name = "json"
	case GRPCWeb:
		c.options = append(c.options, connect.WithGRPCWeb())
	case GRPC:
		c.options = append(c.options, connect.WithGRPC())
	}
	c.codec, c.options = codec, append(c.options, connect.WithCodec(codec))
	return c
}

// conn implements grpc.ClientConnInterface.
type conn struct {
	base    string
	client  *http.Client
	codec   codec
	options []connect.ClientOption
}

// frame is an encoded response.
type frame struct{ data []byte }

// codec encodes any request, and passes through the frames of responses: Connect's clients are generic,
// but conn learns the message types only at run time.
type codec struct{ name string }

// Name implements connect.Codec.
func (c codec) Name() string { return c.name }

// Marshal implements connect.Codec. Connect also marshals statuses with it.
func (c codec) Marshal(m any) ([]byte, error) {
	if request, ok := m.(*any); ok {
		return c.encode(*request)
	}
	return proto.Marshal(m.(proto.Message))
}

// Unmarshal implements connect.Codec.
func (c codec) Unmarshal(data []byte, m any) error {
	if f, ok := m.(*frame); ok {
		f.data = append([]byte(nil), data...)
		return nil
	}
	return proto.Unmarshal(data, m.(proto.Message))
}

// encode encodes a request. A request of raw bytes is sent unchanged.
func (c codec) encode(m any) ([]byte, error) {
	if raw, ok := m.([]byte); ok {
		return raw, nil
	}
	if c.name == "json" {
		return protojson.Marshal(m.(proto.Message))
	}
	return proto.Marshal(m.(proto.Message))
}

func (c codec) decode(f *frame, m any) error {
	if c.name == "json" {
		return protojson.Unmarshal(f.data, m.(proto.Message))
	}
	return proto.Unmarshal(f.data, m.(proto.Message))
}

func (c *conn) to(method string) *connect.Client[any, frame] {
	return connect.NewClient[any, frame](c.client, c.base+method, c.options...)
}

// request returns a request with the metadata of the call.
func (c *conn) request(ctx context.Context, m any) *connect.Request[any] {
	request := connect.NewRequest(&m)
	sent, _ := metadata.FromOutgoingContext(ctx)
	for key, values := range sent {
		for _, value := range values {
			request.Header().Add(key, value)
		}
	}
	return request
}

// Invoke implements grpc.ClientConnInterface. It supports only the option grpc.Trailer.
func (c *conn) Invoke(ctx context.Context, method string, args, reply any, options ...grpc.CallOption) error {
	response, err := c.to(method).CallUnary(ctx, c.request(ctx, args))
	if err != nil {
		trailer, err := toStatus(err)
		for _, option := range options {
			if o, ok := option.(grpc.TrailerCallOption); ok {
				*o.TrailerAddr = trailer
			}
		}
		return err
	}
	return c.codec.decode(response.Msg, reply)
}

// NewStream implements grpc.ClientConnInterface for server streams.
func (c *conn) NewStream(ctx context.Context, _ *grpc.StreamDesc, method string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	return &stream{conn: c, ctx: ctx, method: method}, nil
}

// stream is a server stream. Like a gRPC stream, it ends when its context does.
type stream struct {
	conn     *conn
	ctx      context.Context
	method   string
	received *connect.ServerStreamForClient[frame]
	failed   error
	trailer  metadata.MD
}

// SendMsg implements grpc.ClientStream. If it fails, RecvMsg returns the error.
func (s *stream) SendMsg(m any) error {
	s.received, s.failed = s.conn.to(s.method).CallServerStream(s.ctx, s.conn.request(s.ctx, m))
	return nil
}

// CloseSend implements grpc.ClientStream.
func (s *stream) CloseSend() error { return nil }

// RecvMsg implements grpc.ClientStream.
func (s *stream) RecvMsg(m any) error {
	err := s.failed
	if err == nil {
		if s.received.Receive() {
			return s.conn.codec.decode(s.received.Msg(), m)
		}
		err = s.received.Err()
		_ = s.received.Close()
	}
	if err == nil {
		return io.EOF
	}
	s.trailer, err = toStatus(err)
	return err
}

// Header implements grpc.ClientStream.
func (s *stream) Header() (metadata.MD, error) { return nil, nil }

// Trailer implements grpc.ClientStream.
func (s *stream) Trailer() metadata.MD { return s.trailer }

// Context implements grpc.ClientStream.
func (s *stream) Context() context.Context { return s.ctx }

// toStatus converts a Connect error to a gRPC error and its trailer.
func toStatus(err error) (metadata.MD, error) {
	failed := new(connect.Error)
	if !errors.As(err, &failed) {
		return nil, err
	}
	s := &statuspb.Status{Code: int32(failed.Code()), Message: failed.Message()}
	for _, detail := range failed.Details() {
		s.Details = append(s.Details, &anypb.Any{TypeUrl: "type.googleapis.com/" + detail.Type(), Value: detail.Bytes()})
	}
	trailer := metadata.MD{}
	for key, values := range failed.Meta() {
		trailer[strings.ToLower(key)] = values
	}
	return trailer, status.ErrorProto(s)
}
