package match

import "sync"

// Form identifies an encoding of the messages that the watchers of a game get.
type Form uint8

// The possible encodings.
const (
	// Proto is a message in protobuf, for gRPC, Connect and gRPC-Web.
	Proto Form = iota
	// JSON is a message in JSON, for Connect and gRPC-Web.
	JSON
	// Record is one event in the Server-Sent Events format.
	Record

	forms
)

// EncodedOnce caches the encoded forms of a message that many watchers share.
type EncodedOnce [forms]struct {
	once    sync.Once
	encoded any
}

// Encoded returns the message in the given form. Only the first call for each form calls
// encode.
func (e *EncodedOnce) Encoded(form Form, encode func() any) any {
	f := &e[form]
	f.once.Do(func() { f.encoded = encode() })
	return f.encoded
}
