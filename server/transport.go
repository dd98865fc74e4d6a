package server

import (
	"cmp"
	"crypto/tls"
	"math"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	"github.com/gridstand/gridstand/server/internal/front"
	"github.com/gridstand/gridstand/server/limits"
)

const (
	// probeAfter is how long a connection may be idle before it is probed, and probeTimeout is how
	// long the client may take to answer before the connection counts as dead.
	probeAfter   = 30 * time.Second
	probeTimeout = 10 * time.Second
	// minPing is the minimum interval between a client's probes. The server disconnects
	// clients that probe more often.
	minPing = 10 * time.Second
	// maxHeaderBytes limits the size of a call's metadata, which consists of a token and
	// whatever client libraries add.
	maxHeaderBytes = 16 << 10
	// readBuffer is the size of gRPC's read buffer, which holds about eight requests. gRPC
	// keeps the buffer as long as the connection is open. It would use a buffer pool only
	// for a plain net.TCPConn, but these connections are wrapped.
	readBuffer = 1 << 10
	// workers is the number of goroutines that run calls on stacks that have already grown.
	// Growing new stacks accounted for a tenth of the time that the server spent on a move. A
	// stream keeps its worker until it ends; if all workers are in use, calls run in new
	// goroutines.
	workers = 512
	// streamWindow and connectionWindow are the numbers of bytes that a client may send
	// before the server has read them. They are fixed, because requests are too small for
	// bandwidth estimation to help.
	streamWindow     = 64 << 10
	connectionWindow = 1 << 20
)

// transportOptions returns the options for connections. They include no compressor,
// because a message that is encoded once for all watchers cannot be compressed separately
// for each.
func transportOptions(c Config) []grpc.ServerOption {
	options := []grpc.ServerOption{
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: probeAfter, Timeout: probeTimeout}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minPing, PermitWithoutStream: true}),
		grpc.ConnectionTimeout(front.HandshakeTimeout),
		grpc.MaxHeaderListSize(maxHeaderBytes),
		grpc.NumStreamWorkers(workers),
		grpc.ReadBufferSize(readBuffer),
		grpc.StaticStreamWindowSize(streamWindow),
		grpc.StaticConnWindowSize(connectionWindow),
		// Shutdown must wait until every handler has returned.
		grpc.WaitForHandlers(true),
		grpc.MaxRecvMsgSize(cmp.Or(c.Limits[limits.MessageBytes], math.MaxInt32)),
	}
	if c.Limits[limits.StreamsPerConnection] > 0 {
		options = append(options, grpc.MaxConcurrentStreams(uint32(c.Limits[limits.StreamsPerConnection])))
	}
	return options
}

// tlsConfig returns the TLS configuration, or nil if there are no certificates.
func tlsConfig(files *certificates) *tls.Config {
	if files == nil {
		return nil
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		// gRPC clients offer only h2. Browsers offer h2 and http/1.1, and get http/1.1.
		NextProtos:     []string{"http/1.1", "h2"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return files.certificate.Load(), nil },
	}
}
