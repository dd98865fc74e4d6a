package rpc

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/server/internal/match"
)

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
	if _, ok := stream.(Sharer); ok {
		return match.Record
	}
	if grpc.ServerTransportStreamFromContext(stream.Context()) == nil {
		return match.Message
	}
	return match.Prepared
}
