package rpc

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// Aborter is a stream that does not use gRPC and that another goroutine can end while
// SendMsg is running. SendMsg then returns promptly.
type Aborter interface {
	Abort(err error)
}

var errStalled = serverUnavailable("the client has read nothing from this stream for too long")

func (v *View) onStall() { v.service.endStalled(v.stream) }

// endStalled ends a stream from another goroutine while its handler waits for the client.
// Canceling the stream's context would also end it, but with the status Canceled, after
// which clients must not retry.
//
// gRPC keeps the messages that it has accepted and the status until the client reads them
// or the connection closes. So the server also closes the connection if the client still
// reads nothing. match/find_stalled.go finds such streams.
func (s *Service) endStalled(of grpc.ServerStream) {
	if aborter, ok := of.(Aborter); ok {
		aborter.Abort(errStalled)
		return
	}
	ctx := of.Context()
	stream, ok := grpc.ServerTransportStreamFromContext(ctx).(interface {
		SetTrailer(md metadata.MD) error
		WriteStatus(st *status.Status) error
	})
	if ok {
		_ = stream.SetTrailer(errStalled.trailer())
		_ = stream.WriteStatus(errStalled.GRPCStatus())
	}
	if p, ok := peer.FromContext(ctx); ok {
		s.CloseAfter(p.Addr, s.Hub.Stall)
	}
}
