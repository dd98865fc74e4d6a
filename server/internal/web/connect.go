package web

import (
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"

	"connectrpc.com/connect"
	"google.golang.org/grpc"

	"github.com/gridstand/gridstand/proto/gridstand/v1/gridstandv1connect"
	"github.com/gridstand/gridstand/server/limits"
)

const (
	// compressFrom is the minimum size in bytes of responses that are compressed, provided
	// that the client accepts that. Responses with a token are smaller, so they are never
	// compressed.
	compressFrom = 1 << 10
	// compression is the name of the only supported compression algorithm.
	compression = "gzip"
)

// maxMessage returns the maximum size of a message in bytes, which applies both before and
// after decompression. Without a limit, it is the same as for gRPC.
func maxMessage(l *limits.Limits) int { return cmp.Or(l[limits.MessageBytes], math.MaxInt32) }

// registerConnect serves the contract over Connect, gRPC-Web, and gRPC on net/http.
func registerConnect(mux *http.ServeMux, c Config) {
	limit := maxMessage(&c.Service.Limits)
	options := []connect.HandlerOption{
		connect.WithInterceptors(connect.UnaryInterceptorFunc(c.wrap)),
		connect.WithCodec(protoCodec),
		connect.WithCodec(jsonCodec),
		connect.WithCompressMinBytes(compressFrom),
		connect.WithCompression(compression, func() connect.Decompressor {
			return &unpacker{messageReader: messageReader{request: context.Background(), limit: limit}}
		}, newPacker),
		connect.WithConditionalHandlerOptions(func(spec connect.Spec) []connect.HandlerOption {
			if spec.StreamType == connect.StreamTypeUnary {
				return nil
			}
			// Don't compress streams, because each event on its own is small.
			return []connect.HandlerOption{connect.WithCompression(compression, nil, nil)}
		}),
	}
	all := services{c.Service, c}
	mux.Handle(gridstandv1connect.NewGameServiceHandler(all, options...))
	mux.Handle(gridstandv1connect.NewChallengeServiceHandler(all, options...))
	mux.Handle(gridstandv1connect.NewLeaderboardServiceHandler(all, options...))
	mux.Handle(gridstandv1connect.NewPlayerServiceHandler(all, options...))
}

func newPacker() connect.Compressor {
	w, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	return w
}

// envelopeBytes is the number of bytes that precede the message in streams and in gRPC-Web.
const envelopeBytes = 5

// limitBody limits the body of a call to one message. Unlike connect.WithReadMaxBytes, it makes
// package connect send an error with a reason. kind is the request's content type.
func limitBody(r *http.Request, kind string, limit int) {
	most := int64(limit)
	if kind != unaryPrefix+"json" && kind != unaryPrefix+"proto" {
		most += envelopeBytes
	}
	r.Body = messageReader{http.MaxBytesReader(nil, r.Body, most), r.Context(), limit}
}

// messageReader reads a message from a reader that fails as soon as the message exceeds the limit. Package
// connect sends its errors to the client. If the message is malformed, they say that this is the client's
// mistake: package connect by itself would report an unknown error, status 500.
type messageReader struct {
	io.ReadCloser
	request context.Context
	limit   int
}

// Read implements io.Reader.
func (m messageReader) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	_, exceeds := errors.AsType[*http.MaxBytesError](err)
	switch {
	case exceeds:
		err = tooLarge(m.limit)
	case errors.Is(err, os.ErrDeadlineExceeded): // whose text contains the server's own address
		err = connect.NewError(connect.CodeDeadlineExceeded, errors.New("the request did not arrive in time"))
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), m.request.Err() != nil:
		// Package connect recognizes clients that have left.
	default:
		err = connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("malformed request body: %w", err))
	}
	return n, err
}

// unpacker decompresses a request. It fails as soon as the decompressed data exceeds the
// limit, whereas package connect by itself would read an oversized request to the end.
type unpacker struct {
	messageReader
	gzip gzip.Reader
}

// Reset implements connect.Decompressor.
func (u *unpacker) Reset(r io.Reader) error {
	u.ReadCloser = http.MaxBytesReader(nil, &u.gzip, int64(u.limit))
	return u.gzip.Reset(r)
}

// wrap returns a unary Connect call that runs through the gRPC interceptors. Around a stream, these run
// in Watch, because a wrapper would also get Connect's errors about malformed requests, as if they
// were the handler's.
func (c Config) wrap(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		info := &grpc.UnaryServerInfo{Server: c.Service, FullMethod: request.Spec().Procedure}
		response, err := c.Unary(ctx, request.Any(), info, func(ctx context.Context, _ any) (any, error) {
			return next(ctx, request)
		})
		if err != nil {
			return nil, toConnect(err)
		}
		return response.(connect.AnyResponse), nil
	}
}
