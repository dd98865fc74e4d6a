package rpc

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/server/internal/match"
)

// View sends the updates of a game or a challenge to a client, in any protocol. It must not
// be used concurrently.
type View struct {
	updates
	stream grpc.ServerStream
	form   match.Form
	opened bool // set once the client has the headers, and all of what was sent before

	service *Service
	method  string
	done    <-chan struct{} // closed when the stream ends; nil if updates signals that itself
	ended   func(error)     // see Start
}

// updates is what a view sends.
type updates interface {
	// next returns the next message. If there is none yet, it returns nil and a channel that
	// is closed when there may be one.
	next() (message any, changed <-chan struct{}, err error)
	// Over reports whether the client has the last message.
	Over() bool
	// Close ends the watch and releases what the view shows.
	Close()
}

// Start sends updates in another goroutine. When the watch ends, it calls ended with nil if the client
// has the last one, and otherwise with a status of the contract.
func (v *View) Start(ended func(error)) {
	v.ended = ended
	go v.followAlone()
}

// followAlone sends updates until the view joins a fanout or ends.
func (v *View) followAlone() {
	v.opened = false // The last TrySend may have sent only a part of its message.
	err := v.recovered()
	switch {
	case errors.Is(err, errJoined):
		return
	case err != nil:
		err = v.service.toStatus(v.stream.Context(), v.method, err)
	}
	v.ended(err)
}

// follow sends updates until the client has the last one or leaves. Its stack frame is in
// memory while a watcher waits, so it is small.
func (v *View) follow() error {
	for !v.Over() {
		message, changed, err := v.next()
		switch {
		case err != nil:
			return err
		case message != nil || !v.opened:
			if err := v.send(message); err != nil {
				return err
			}
		case v.done == nil:
			<-changed // Waiting on two channels would take twice as long.
		default:
			v.wait(changed)
		}
	}
	return nil
}

// send sends a message, or the headers if message is nil: a client that resumes may wait a
// long time for its first message, and the headers tell it that the stream is open.
func (v *View) send(message any) error {
	v.opened = true
	if message == nil {
		return v.stream.SendHeader(nil)
	}
	return v.stream.SendMsg(message)
}

// wait waits until changed or v.done is closed.
func (v *View) wait(changed <-chan struct{}) {
	select {
	case <-changed:
	case <-v.done:
	}
}

// encode encodes m for all streams of the view's form, so that m is encoded only once.
// Marshaling it for each of 20,000 streams would halve the throughput. No stream is
// compressed.
func (v *View) encode(m proto.Message) any {
	marshal := proto.Marshal
	switch v.form {
	case match.Record:
		return v.stream.(Sharer).Encode(m)
	case match.JSON:
		marshal = protojson.Marshal
	}
	data, err := marshal(m)
	if err != nil {
		return m
	}
	return mem.BufferSlice{mem.SliceBuffer(data)}
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

// recovered calls follow and turns a panic into an error. It runs outside the interceptors, which
// recover from panics, and an unrecovered panic would crash the server.
func (v *View) recovered() (err error) {
	defer v.service.recovered(v.method, &err)
	return v.follow()
}

// recovered turns a panic of the function that defers it into an error.
func (s *Service) recovered(method string, err *error) {
	if p := recover(); p != nil {
		LogPanic(s.Logger, method, p)
		*err = errInternal
	}
}

// LogPanic logs a panic in a call, with the recovered value p and the goroutine's stack.
func LogPanic(logger *slog.Logger, call string, p any) {
	logger.Error("panic in a call", "id", "call-panicked", "call", call, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
}
