package lightwatch

import (
	"encoding/binary"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Stream is a Watch call.
type Stream struct {
	conn     *Conn
	id       uint32
	receiver Receiver
	opened   bool
	part     []byte // beginning of a message that continues in a later frame
	unread   uint32 // bytes received since the last window update
}

// Watch opens a stream. If it fails, it returns a status error and never calls the receiver.
func (c *Conn) Watch(request *pb.WatchRequest, receiver Receiver) (*Stream, error) {
	message, err := proto.Marshal(request)
	if err != nil {
		return nil, status.Errorf(codes.Internal, "encoding the request: %v", err)
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	s := &Stream{conn: c, id: c.nextID, receiver: receiver}
	if err := c.enter(s); err != nil {
		return nil, err
	}
	c.nextID += 2
	scheme := "http"
	if c.options.TLS != nil {
		scheme = "https"
	}
	c.block.Reset()
	for _, h := range []hpack.HeaderField{
		{Name: ":method", Value: "POST"},
		{Name: ":scheme", Value: scheme},
		{Name: ":path", Value: pb.GameService_Watch_FullMethodName},
		{Name: ":authority", Value: c.options.Authority},
		{Name: "content-type", Value: "application/grpc"},
		{Name: "user-agent", Value: c.options.UserAgent},
		{Name: "te", Value: "trailers"},
	} {
		_ = c.headers.WriteField(h) // writes to a buffer, so it cannot fail
	}
	// Ignore write errors: they end the connection, which also ends the goroutine that reads it.
	_ = c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: s.id, BlockFragment: c.block.Bytes(), EndHeaders: true})
	_ = c.framer.WriteData(s.id, true, append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...))
	_ = c.out.Flush()
	return s, nil
}

// enter adds s to the connection's streams.
func (c *Conn) enter(s *Stream) error {
	c.reading.Lock()
	defer c.reading.Unlock()
	switch {
	case c.ended != nil:
		return c.ended
	case len(c.streams) >= int(c.limit):
		return status.Errorf(codes.FailedPrecondition, "the server, or a proxy in front of it, allows %d streams per connection", c.limit)
	case s.id > 1<<31-1:
		return status.Error(codes.Unavailable, "the connection has used all stream ids")
	}
	c.streams[s.id] = s
	return nil
}

// Cancel ends the stream if it has not ended yet. The receiver is not called again.
func (s *Stream) Cancel() {
	c := s.conn
	c.reading.Lock()
	open := c.streams[s.id] == s
	delete(c.streams, s.id)
	c.reading.Unlock()
	if open {
		c.write(func() { _ = c.framer.WriteRSTStream(s.id, http2.ErrCodeCancel) })
	}
}

// receive handles a data frame.
func (c *Conn) receive(frame *http2.DataFrame) {
	var err error
	renew := uint32(0) // window increment to send for the stream
	c.reading.Lock()
	s := c.streams[frame.StreamID]
	if s != nil {
		if err = s.take(frame.Data()); err == nil && frame.StreamEnded() {
			err = errNoTrailers
		}
		if s.unread += frame.Length; s.unread >= c.options.Window/2 {
			renew, s.unread = s.unread, 0
		}
	}
	c.reading.Unlock()
	if err != nil {
		c.end(frame.StreamID, err, true)
		renew = 0
	}
	if c.unread += frame.Length; c.unread >= c.options.Window/2 || renew > 0 {
		c.write(func() {
			_ = c.framer.WriteWindowUpdate(0, c.unread)
			if renew > 0 {
				_ = c.framer.WriteWindowUpdate(frame.StreamID, renew)
			}
		})
		c.unread = 0
	}
}

// take handles data, which usually consists of whole messages: servers write each message in its
// own frame if the window allows it. Proxies may split messages anywhere, however.
func (s *Stream) take(data []byte) error {
	if len(s.part) > 0 {
		s.part = append(s.part, data...)
		data = s.part
	}
	for len(data) >= 5 {
		size := binary.BigEndian.Uint32(data[1:])
		switch {
		case data[0] != 0:
			return status.Error(codes.Internal, "the server sent a compressed message, which the client does not accept")
		case size > maxMessage:
			return status.Errorf(codes.ResourceExhausted, "a message of %d bytes is too long", size)
		case len(data)-5 < int(size):
			s.part = append(s.part[:0], data...)
			return nil
		}
		u := &s.conn.update
		err := u.decode(data[5 : 5+size])
		if err == nil {
			err = s.receiver.Update(u)
		}
		if err != nil {
			return err
		}
		data = data[5+size:]
	}
	s.part = append(s.part[:0], data...)
	if len(s.part) == 0 {
		s.part = nil
	}
	return nil
}
