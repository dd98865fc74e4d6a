package web

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/rpc"
)

// eventStream is a stream of Server-Sent Events, for package rpc. Each message is one
// write.
type eventStream struct {
	grpc.ServerStream // nil: package rpc uses only the methods below

	out   output
	first []byte          // sent before the next message
	raw   syscall.RawConn // of out, to write without waiting; nil if that is not possible

	ctx     context.Context
	cancel  context.CancelFunc
	view    *rpc.View // nil before it is open
	release func()    // undoes Config.AdmitEvents; may be nil
	index   int       // in readers.all; guarded by its mu
}

// output is the way to the client.
type output interface {
	io.Writer
	SetWriteDeadline(t time.Time) error
	// Abort ends a Write that waits for the client, and all later ones.
	Abort()
	// Close ends the answer, or does nothing if that is for net/http to do.
	Close() error
}

// Context implements grpc.ServerStream.
func (s *eventStream) Context() context.Context { return s.ctx }

// SetTrailer implements grpc.ServerStream. Only errors have trailers.
func (s *eventStream) SetTrailer(metadata.MD) {}

// SendHeader implements grpc.ServerStream.
func (s *eventStream) SendHeader(metadata.MD) error { return s.write(nil) }

// SendMsg implements grpc.ServerStream.
func (s *eventStream) SendMsg(m any) error {
	if record, ok := m.([]byte); ok {
		return s.write(record)
	}
	record, err := encodeRecord(m.(*pb.WatchResponse))
	if err != nil {
		return err
	}
	return s.write(record)
}

func (s *eventStream) write(record []byte) error {
	if s.first != nil {
		record, s.first = slices.Concat(s.first, record), nil
	}
	if len(record) == 0 {
		return nil
	}
	_, err := s.out.Write(record)
	return err
}

// TrySend implements rpc.TrySender.
func (s *eventStream) TrySend(m any) bool {
	record := m.([]byte)
	n := tryWrite(s.raw, record)
	if n == len(record) {
		return true
	}
	s.first = record[n:]
	return false
}

// Encode implements rpc.Encoder.
func (s *eventStream) Encode(m *pb.WatchResponse) any {
	record, err := encodeRecord(m)
	if err != nil {
		return m // SendMsg returns the error.
	}
	return record
}

// Abort implements rpc.Aborter. The client gets no word of it, and reconnects.
func (s *eventStream) Abort(error) {
	s.cancel()
	s.out.Abort()
}

// endTimeout is how long the last record may take to be written.
const endTimeout = 5 * time.Second

// drop ends a stream of the readers whose client has gone.
func (s *eventStream) drop() {
	s.Abort(nil)
	if s.raw != nil {
		s.view.Interrupt()
	}
}

// end tells the client that the game is over, unless the stream ended with an error:
// then it has to reconnect.
func (s *eventStream) end(err error) {
	if err == nil {
		_ = s.out.SetWriteDeadline(time.Now().Add(endTimeout))
		_ = s.write([]byte("event: end\ndata: {}\n\n"))
	}
}

// close ends the stream, opened or not.
func (s *eventStream) close() {
	s.cancel()
	if s.out != nil {
		_ = s.out.Close()
	}
	if s.view != nil {
		s.view.Close()
	}
	if s.release != nil {
		s.release()
	}
}

// encodeRecord returns a message as a record. Only games and events have an ID: the
// version after which a client resumes.
func encodeRecord(m *pb.WatchResponse) ([]byte, error) {
	data, err := protojson.Marshal(m)
	if err != nil {
		return nil, err
	}
	var record bytes.Buffer
	record.Grow(len(data) + 32)
	if v := version(m); v > 0 {
		record.WriteString("id: ")
		record.WriteString(strconv.Itoa(int(v)))
		record.WriteByte('\n')
	}
	record.WriteString("data: ")
	// Its spaces are random, and it has no line breaks.
	if err := json.Compact(&record, data); err != nil {
		return nil, err
	}
	record.WriteString("\n\n")
	return record.Bytes(), nil
}

// version returns the version that a client resumes after, 0 for an update that has none.
func version(m *pb.WatchResponse) int32 {
	switch u := m.GetUpdate().(type) {
	case *pb.WatchResponse_Game:
		return u.Game.GetVersion()
	case *pb.WatchResponse_Event:
		return u.Event.GetVersion()
	}
	return 0
}
