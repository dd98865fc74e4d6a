package web

import (
	"compress/gzip"
	"context"
	"io"
	"math"
	"net/http"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/gridstand/gridstand/proto/gridstand/v1/gridstandv1connect"
	"github.com/gridstand/gridstand/server/limits"
)

const (
	// compressFrom is the size in bytes from which answers are compressed if the client
	// accepts that. It is above the size of an answer that holds a token.
	compressFrom = 1 << 10
	// compression is the name of the only one.
	compression = "gzip"
)

// maxMessage returns the size in bytes up to which a message is read, in any form.
func maxMessage(l *limits.Limits) int {
	if l.MessageBytes == 0 {
		return math.MaxInt32 // as gRPC
	}
	return l.MessageBytes
}

// registerConnect offers the contract by Connect, gRPC-Web, and gRPC over package
// net/http. Fields that the contract does not have are ignored in JSON as they are in
// the binary form, so that newer clients can call older servers.
func registerConnect(mux *http.ServeMux, c Config) {
	calls := &calls{c, chainUnary(c.Unary), chainStream(c.Stream)}
	limit := maxMessage(c.Limits)
	options := []connect.HandlerOption{
		connect.WithInterceptors(calls),
		connect.WithReadMaxBytes(limit),
		connect.WithCompressMinBytes(compressFrom),
		connect.WithCompression(compression, func() connect.Decompressor { return &unpacker{limit: limit} }, newPacker),
		connect.WithConditionalHandlerOptions(func(spec connect.Spec) []connect.HandlerOption {
			if spec.StreamType == connect.StreamTypeUnary {
				return nil
			}
			// Each event by itself is small.
			return []connect.HandlerOption{connect.WithCompression(compression, nil, nil)}
		}),
	}
	mux.Handle(gridstandv1connect.NewGameServiceHandler(games{c.Service, calls}, options...))
	mux.Handle(gridstandv1connect.NewLeaderboardServiceHandler(c.Service, options...))
	mux.Handle(gridstandv1connect.NewPlayerServiceHandler(c.Service, options...))
}

func newPacker() connect.Compressor {
	w, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	return w
}

// unpacker decompresses a request. Package connect reads to the end even of one that is
// too large: this one fails at the limit.
type unpacker struct {
	gzip.Reader
	limit, left int
}

// Reset implements connect.Decompressor.
func (u *unpacker) Reset(r io.Reader) error {
	u.left = u.limit
	return u.Reader.Reset(r)
}

func (u *unpacker) Read(b []byte) (int, error) {
	if u.left < 0 {
		return 0, tooLarge(u.limit)
	}
	if len(b) > u.left+1 {
		b = b[:u.left+1]
	}
	n, err := u.Reader.Read(b)
	u.left -= n
	return n, err
}

// calls runs the interceptors of gRPC for calls by Connect.
type calls struct {
	Config
	unary  grpc.UnaryServerInterceptor
	stream grpc.StreamServerInterceptor
}

// WrapUnary implements connect.Interceptor.
func (c *calls) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		call := &call{method: request.Spec().Procedure}
		info := &grpc.UnaryServerInfo{Server: c.Service, FullMethod: call.method}
		ctx = grpc.NewContextWithServerTransportStream(ctx, call)
		response, err := c.unary(ctx, request.Any(), info, func(ctx context.Context, _ any) (any, error) {
			return next(ctx, request)
		})
		if err != nil {
			return nil, toConnect(err, call.trailer)
		}
		return response.(connect.AnyResponse), nil
	}
}

// WrapStreamingClient implements connect.Interceptor.
func (c *calls) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// WrapStreamingHandler implements connect.Interceptor. The interceptors of gRPC run in
// Watch, since they take the errors of malformed requests for those of a handler.
func (c *calls) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}

// call is the part of a unary call's stream that interceptors of gRPC know.
type call struct {
	method  string
	trailer metadata.MD
}

// Method implements grpc.ServerTransportStream.
func (c *call) Method() string { return c.method }

// SetHeader implements grpc.ServerTransportStream.
func (c *call) SetHeader(metadata.MD) error { return nil }

// SendHeader implements grpc.ServerTransportStream.
func (c *call) SendHeader(metadata.MD) error { return nil }

// SetTrailer implements grpc.ServerTransportStream.
func (c *call) SetTrailer(md metadata.MD) error {
	c.trailer = metadata.Join(c.trailer, md)
	return nil
}
