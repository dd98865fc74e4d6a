package server

import (
	"context"
	"crypto/tls"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
)

const (
	// probeTimeout is how long a probed connection may stay silent before it
	// counts as dead.
	probeTimeout = 10 * time.Second
	// minPing is how often a client may probe; one that does more often is
	// disconnected.
	minPing = 10 * time.Second
	// handshakeTimeout bounds how long a new connection may take to become one.
	handshakeTimeout = 10 * time.Second
	// maxHeaderBytes bounds the metadata of a call, which is a token and what
	// libraries add.
	maxHeaderBytes = 16 << 10
	// readBuffer is the size of a read, some eight requests. gRPC keeps the buffer for
	// as long as the connection is open; it takes one from a pool only for a bare
	// net.TCPConn, and ours are wrapped.
	readBuffer = 1 << 10
	// workers run calls on stacks that have already grown: growing new ones took a
	// tenth of the server's time for a move. A stream keeps its worker until it ends;
	// if all are taken, calls get a goroutine of their own.
	workers = 512
	// streamWindow and connectionWindow are how many bytes a client may send before
	// the server reads them. They are fixed: requests are small, so measuring the
	// bandwidth has no use.
	streamWindow     = 64 << 10
	connectionWindow = 1 << 20
)

// transportOptions are how connections behave. There is no compressor: a
// message that is encoded once for all watchers cannot suit each one's.
func transportOptions(c Config) []grpc.ServerOption {
	options := []grpc.ServerOption{
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minPing, PermitWithoutStream: true}),
		grpc.ConnectionTimeout(handshakeTimeout),
		grpc.MaxHeaderListSize(maxHeaderBytes),
		grpc.NumStreamWorkers(workers),
		grpc.ReadBufferSize(readBuffer),
		grpc.StaticStreamWindowSize(streamWindow),
		grpc.StaticConnWindowSize(connectionWindow),
		// A stop ends only when every handler has returned.
		grpc.WaitForHandlers(true),
	}
	if c.Keepalive > 0 {
		options = append(options, grpc.KeepaliveParams(keepalive.ServerParameters{Time: c.Keepalive, Timeout: probeTimeout}))
	}
	if c.Limits.MessageBytes > 0 {
		options = append(options, grpc.MaxRecvMsgSize(c.Limits.MessageBytes))
	} else {
		options = append(options, grpc.MaxRecvMsgSize(1<<31-1))
	}
	if c.Limits.StreamsPerConnection > 0 {
		options = append(options, grpc.MaxConcurrentStreams(uint32(c.Limits.StreamsPerConnection)))
	}
	return options
}

// tlsConfigs returns how connections to gRPC's port and to a listener for HTTP alone are
// encrypted, nil for not at all. The error is a *ConfigError.
func tlsConfigs(c Config, logger *slog.Logger) (grpc, web *tls.Config, err error) {
	if c.TLSCert == "" {
		return nil, nil, nil
	}
	files, err := newCertificates(c, logger)
	if err != nil {
		return nil, nil, err
	}
	return files.grpcConfig(), files.webConfig(), nil
}

// recoverers turn a panic in a handler into an answer and a line in the log.
func recoverers(logger *slog.Logger) (grpc.UnaryServerInterceptor, grpc.StreamServerInterceptor) {
	handler := recovery.WithRecoveryHandlerContext(func(ctx context.Context, p any) error {
		method, _ := grpc.Method(ctx)
		logger.ErrorContext(ctx, "panic in a call", "id", "call-panicked", "call", method, "panic", p, "stack", string(debug.Stack()))
		return status.Error(codes.Internal, "internal error")
	})
	return recovery.UnaryServerInterceptor(handler), recovery.StreamServerInterceptor(handler)
}
