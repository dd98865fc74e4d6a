package rpc

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/game/replay"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
	"github.com/gridstand/gridstand/server/internal/match"
)

// Encoder is a stream whose protocol lets the server encode each message once for all
// streams. Messages passed to its SendMsg are encoded if all watchers share them, and
// unencoded otherwise. Only one protocol may implement Encoder, because all such streams
// share the encoding match.Record.
type Encoder interface {
	Encode(m proto.Message) any
}

// Aborter is a stream that does not use gRPC and that another goroutine can end while
// SendMsg is running. SendMsg then returns promptly.
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

// encodeEvent encodes an event that is not the last event of an attempt.
func (v *View) encodeEvent(e *match.Event) any {
	return e.Encoded(v.form, func() any {
		return v.encode(eventResponse(e.Event))
	})
}

// sendEndOfAttempt sends the last event of an attempt. Its encoding is not shared between
// streams, because whether it contains the seed depends on the time.
func (v *View) sendEndOfAttempt(e *replay.Event) error {
	e, err := v.service.revealedEvent(v.stream.Context(), e)
	if err != nil {
		return err
	}
	return v.send(v.encode(eventResponse(e)))
}

func eventResponse(e *replay.Event) *pb.WatchResponse {
	return &pb.WatchResponse{Update: &pb.WatchResponse_Event{Event: translate.Event(e)}}
}

func (v *View) encodeAudience(a *match.Audience) any {
	return a.Encoded(v.form, func() any {
		return v.encode(&pb.WatchResponse{Update: &pb.WatchResponse_Audience{Audience: int32(a.Watchers)}})
	})
}

func (v *View) encode(m *pb.WatchResponse) any { return encodeFor(v.stream, v.form, m) }

// encodeFor encodes m for all streams of the given form, so that m is encoded only once.
// Marshaling it for each of 20,000 streams would halve the throughput. The encoding for
// gRPC depends on the codec and the compressor; the server has one codec and no
// compressor.
func encodeFor(stream grpc.ServerStream, form match.Form, m proto.Message) any {
	switch form {
	case match.Record:
		return stream.(Encoder).Encode(m)
	case match.Prepared:
		prepared := &grpc.PreparedMsg{}
		if err := prepared.Encode(stream, m); err == nil {
			return prepared
		}
	}
	return m
}

var errStalled = serverUnavailable("the client has read nothing from this stream for too long")

func (v *View) onStall() { v.service.endStalled(v.stream) }

// endStalled ends a stream from another goroutine while its handler is blocked in SendMsg.
// Canceling the stream's context would also end it, but with the status Canceled, after
// which clients must not retry.
//
// gRPC keeps the messages that it has accepted and the status, about 100 kB, until the
// client reads them or the connection closes. So the server also closes the connection if
// the client still reads nothing. match/watch_stalled.go finds such streams.
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
		s.HangUp(p.Addr, s.Hub.Stall)
	}
}
