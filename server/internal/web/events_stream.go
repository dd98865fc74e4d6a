package web

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"slices"
	"strconv"
	"syscall"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/rpc"
)

// eventStream is a stream of Server-Sent Events for package rpc. It writes each message
// with a single call to Write.
type eventStream struct {
	conn  *conn           // nil until the connection has been hijacked
	raw   syscall.RawConn // conn's socket; nil if it has none
	first []byte          // data to write before the next message

	serverStream // whose send is write

	cancel context.CancelFunc // ends the stream's context
	view   *rpc.View          // nil until the view has been opened
	onEnd  func(error)        // called when the stream ends; nil if the stream was never opened
	err    error              // error that ended the stream
}

// OnEnd implements metrics.Lasting. The interceptors run only while the stream is being
// opened, so they need another way to learn that it has ended.
func (s *eventStream) OnEnd(end func(error)) { s.onEnd = end }

// write writes a record, or a message that is not encoded yet. If m is nil, it writes only what is first.
func (s *eventStream) write(m any) (err error) {
	record, _ := m.([]byte)
	if message, ok := m.(proto.Message); ok {
		if record, err = encodeRecord(message); err != nil {
			return err
		}
	}
	if len(s.first) > 0 {
		record, s.first = slices.Concat(s.first, record), nil
	}
	if len(record) > 0 {
		_, err = s.conn.Write(record)
	}
	return err
}

// CanTry implements rpc.Sharer. Only the connection itself can write what it encrypts.
func (s *eventStream) CanTry() bool {
	_, encrypted := s.conn.Conn.(*tls.Conn)
	return s.raw != nil && !encrypted
}

// TrySend implements rpc.Sharer.
func (s *eventStream) TrySend(m any) bool {
	s.first = m.([]byte)
	_ = s.raw.Control(s.tryWrite) // Write would also prepare to wait.
	return len(s.first) == 0
}

// Encode implements rpc.Sharer.
func (s *eventStream) Encode(m proto.Message) any {
	record, err := encodeRecord(m)
	if err != nil {
		return m // SendMsg will report the error.
	}
	return record
}

// Abort implements rpc.Sharer. The client reconnects.
func (s *eventStream) Abort() {
	s.cancel()
	s.conn.abort()
}

// drop ends a stream whose client has disconnected.
func (s *eventStream) drop() {
	s.Abort()
	s.view.Interrupt()
}

// end sends the last record, which keeps the client from reconnecting. After an error, it
// sends nothing, so that the client reconnects.
func (s *eventStream) end(err error) {
	if s.err = err; err == nil {
		_ = s.SendMsg([]byte("event: end\ndata: {}\n\n"))
	}
}

// close closes the stream, whether or not it was opened.
func (s *eventStream) close() {
	s.cancel()
	if s.conn != nil {
		_ = s.conn.Close()
	}
	if s.view != nil {
		s.view.Close()
	}
	if s.onEnd != nil {
		s.onEnd(s.err)
	}
}

// encodeRecord encodes m as a record. The record has an ID if a client can resume after
// it.
func encodeRecord(m proto.Message) ([]byte, error) {
	data, err := protojson.Marshal(m)
	if err != nil {
		return nil, err
	}
	var record bytes.Buffer
	record.Grow(len(data) + 32)
	if id := recordID(m); id != "" {
		record.WriteString("id: " + id + "\n")
	}
	record.WriteString("data: ")
	_ = json.Compact(&record, data) // protojson inserts random spaces, but never line breaks.
	record.WriteString("\n\n")
	return record.Bytes(), nil
}

// recordID returns the version or etag after which a client can resume, or "" if the
// message has none.
func recordID(m proto.Message) string {
	switch m := m.(type) {
	case *pb.WatchChallengeResponse:
		return m.GetEtag()
	case *pb.WatchResponse:
		if version := max(m.GetGame().GetVersion(), m.GetEvent().GetVersion()); version > 0 {
			return strconv.Itoa(int(version))
		}
	}
	return ""
}
