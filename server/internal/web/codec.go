package web

import (
	"errors"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// codec encodes messages for package connect, which by itself would encode each event for each watcher.
type codec struct {
	name      string
	append    func(b []byte, m proto.Message) ([]byte, error)
	unmarshal func(data []byte, m proto.Message) error
}

// The codecs. Unlike that of package connect, the one for JSON rejects requests with unknown fields,
// because these are most likely mistakes. For example, misspelling a field must not make a private game
// public.
var (
	protoCodec = codec{"proto", proto.MarshalOptions{}.MarshalAppend, proto.Unmarshal}
	jsonCodec  = codec{"json", protojson.MarshalOptions{}.MarshalAppend, unmarshalJSON}
)

// Name implements connect.Codec.
func (c codec) Name() string { return c.name }

// Marshal implements connect.Codec.
func (c codec) Marshal(message any) ([]byte, error) { return c.MarshalAppend(nil, message) }

// MarshalAppend appends the encoded message to b. If a codec has this method, package
// connect uses it instead of Marshal.
func (c codec) MarshalAppend(b []byte, message any) ([]byte, error) {
	if encoded, ok := message.(mem.BufferSlice); ok {
		for _, part := range encoded {
			b = append(b, part.ReadOnlyData()...)
		}
		return b, nil
	}
	return c.append(b, message.(proto.Message))
}

// Unmarshal implements connect.Codec.
func (c codec) Unmarshal(data []byte, message any) error {
	return c.unmarshal(data, message.(proto.Message))
}

func unmarshalJSON(data []byte, m proto.Message) error {
	if len(data) == 0 {
		return errors.New("an empty body is not a JSON object; a request without fields is {}")
	}
	return protojson.Unmarshal(data, m)
}
