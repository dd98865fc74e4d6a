package rpc

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
	"github.com/gridstand/gridstand/server/internal/match"
)

// Encoder is a stream whose messages are encoded once for all streams of the same
// protocol. SendMsg gets the result for what all watchers share, and a
// *pb.WatchResponse for the rest. There may be one such protocol.
type Encoder interface {
	Encode(m *pb.WatchResponse) any
}

// Aborter is a stream of another protocol than gRPC that can be ended while SendMsg
// runs, from another goroutine. SendMsg then returns soon.
type Aborter interface {
	Abort(err error)
}

// formOf returns the form in which messages are sent on a stream.
func formOf(stream grpc.ServerStream) match.Form {
	if _, ok := stream.(Encoder); ok {
		return match.Record
	}
	if grpc.ServerTransportStreamFromContext(stream.Context()) == nil {
		return match.Message
	}
	return match.Prepared
}

func (v *View) encodeEvent(e *match.Event) any {
	return e.Encoded(v.form, func() any {
		return v.encode(&pb.WatchResponse{Update: &pb.WatchResponse_Event{Event: translate.Event(e.Event)}})
	})
}

func (v *View) encodeAudience(a *match.Audience) any {
	return a.Encoded(v.form, func() any {
		return v.encode(&pb.WatchResponse{Update: &pb.WatchResponse_Audience{Audience: int32(a.Watchers)}})
	})
}

// encode encodes a message once for all watchers of a form: marshalling it for each of
// 20,000 streams halves their throughput. What it makes for gRPC depends on the codec
// and the compressor; the server has one codec and no compressor.
func (v *View) encode(m *pb.WatchResponse) any {
	switch v.form {
	case match.Record:
		return v.stream.(Encoder).Encode(m)
	case match.Prepared:
		prepared := &grpc.PreparedMsg{}
		if err := prepared.Encode(v.stream, m); err == nil {
			return prepared
		}
	}
	return m
}

var errStalled = serverUnavailable("nothing was read from this stream for too long")

// onStall ends a stream whose handler waits in SendMsg, from another goroutine. Ending
// the stream's context would also end it, but with Canceled, after which clients must
// not retry.
//
// gRPC keeps the messages that it accepted, and the status, until the client reads
// them: some 100 kB for as long as the connection is open. So a client that goes on
// reading nothing loses the connection, too. match/watch_stalled.go finds such streams.
func (v *View) onStall() {
	if s, ok := v.stream.(Aborter); ok {
		s.Abort(errStalled)
		return
	}
	ctx := v.stream.Context()
	stream, ok := grpc.ServerTransportStreamFromContext(ctx).(interface {
		SetTrailer(md metadata.MD) error
		WriteStatus(st *status.Status) error
	})
	if ok {
		_ = stream.SetTrailer(errStalled.trailer())
		_ = stream.WriteStatus(errStalled.GRPCStatus())
	}
	if p, ok := peer.FromContext(ctx); ok {
		v.service.HangUp(p.Addr, v.service.Hub.Stall)
	}
}
