package web

import (
	"errors"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// jsonCodec encodes messages in JSON. Unlike the codec of package connect, it rejects
// requests with unknown fields, because these are most likely mistakes. For example,
// misspelling a field must not make a private game public.
type jsonCodec struct{}

// Name implements connect.Codec.
func (jsonCodec) Name() string { return "json" }

// Marshal implements connect.Codec.
func (c jsonCodec) Marshal(message any) ([]byte, error) { return c.MarshalAppend(nil, message) }

// MarshalAppend appends the encoded message to b. If a codec has this method, package
// connect uses it instead of Marshal.
func (jsonCodec) MarshalAppend(b []byte, message any) ([]byte, error) {
	return protojson.MarshalOptions{}.MarshalAppend(b, message.(proto.Message))
}

// Unmarshal implements connect.Codec.
func (jsonCodec) Unmarshal(data []byte, message any) error {
	if len(data) == 0 {
		return errors.New("an empty body is not a JSON object; a request without fields is {}")
	}
	return protojson.Unmarshal(data, message.(proto.Message))
}
