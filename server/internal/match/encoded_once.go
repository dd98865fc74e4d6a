package match

import "sync"

// Form identifies an encoding of a message. Each protocol that clients use to watch games
// has its own.
type Form uint8

// The possible encodings.
const (
	// Prepared is a message that is ready to be sent by gRPC.
	Prepared Form = iota
	// Message is the protobuf message itself, for protocols that encode it for each client.
	Message
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
