package rpc

import (
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/server/internal/match"
)

// encoded is a message that is encoded once for all streams.
type encoded struct{ data mem.BufferSlice }

// Encoded returns the encoding, for the server's codecs.
func (e *encoded) Encoded() mem.BufferSlice { return e.data }

func encode(m proto.Message, marshal func(proto.Message) ([]byte, error)) (*encoded, error) {
	data, err := marshal(m)
	return &encoded{mem.BufferSlice{mem.SliceBuffer(data)}}, err
}

// formOf returns the form in which messages are sent on a stream.
func formOf(stream grpc.ServerStream) match.Form {
	if _, ok := stream.(Sharer); ok {
		return match.Record
	}
	ctx := stream.Context()
	kind := strings.ToLower(strings.Join(metadata.ValueFromIncomingContext(ctx, "content-type"), ""))
	if grpc.ServerTransportStreamFromContext(ctx) == nil && strings.Contains(kind, "json") {
		return match.JSON
	}
	return match.Proto
}
