package rpc

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
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

// encoded is a message for gRPC that is encoded once for all streams.
type encoded struct{ data mem.BufferSlice }

// Encoded returns the encoding, for the server's codec.
func (e *encoded) Encoded() mem.BufferSlice { return e.data }

func encode(m proto.Message) (*encoded, error) {
	data, err := proto.Marshal(m)
	return &encoded{mem.BufferSlice{mem.SliceBuffer(data)}}, err
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
	state, err := v.service.revealed(v.stream.Context(), e.State)
	if err != nil {
		return err
	}
	shown := *e
	shown.State = state
	return v.send(v.encode(eventResponse(&shown)))
}

func eventResponse(e *replay.Event) *pb.WatchResponse {
	return &pb.WatchResponse{Update: &pb.WatchResponse_Event{Event: translate.Event(e)}}
}

func (v *View) encodeAudience(a *match.Audience) any {
	return a.Encoded(v.form, func() any {
		return v.encode(&pb.WatchResponse{Update: &pb.WatchResponse_Audience{Audience: int32(a.Spectators)}})
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
		if e, err := encode(m); err == nil {
			return e
		}
	}
	return m
}
