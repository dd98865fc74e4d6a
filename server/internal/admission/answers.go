package admission

import (
	"google.golang.org/grpc/encoding"
	codec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// answer is a message that counts from its encoding until gRPC releases it: when all
// of it was written to the connection, or the stream was reset. It is notified
// because it is the pool of its own buffer.
type answer struct {
	message proto.Message
	conn    *conn
	from    *addressState

	size   int64 // of the buffer
	small  bool  // the buffer is from gRPC's pool
	at     int   // place in conn.answers
	listed bool  // guarded by conn.mu
}

func (a *answer) index() *int { return &a.at }

// answer wraps a reply so that it is counted.
func (s *call) answer(reply any) (any, error) {
	m, ok := reply.(proto.Message)
	if !ok {
		return reply, nil
	}
	c := s.conn.control
	if limit := int64(c.Limits.HeldBytesPerAddress); s.conn.proxy && limit > 0 && s.from.held.Load() > limit/2 {
		if size := int64(proto.Size(m)); size > largeAnswer && s.from.held.Load()+size > limit {
			return nil, s.refuse(c.holdsTooMuch())
		}
	}
	return &answer{message: m, conn: s.conn, from: s.from}, nil
}

// countingCodec encodes answers so that they are counted, and all other messages with
// gRPC's codec.
type countingCodec struct{ encoding.CodecV2 }

func newCodec() encoding.CodecV2 { return countingCodec{encoding.GetCodecV2(codec.Name)} }

// pooled is the smallest size of buffers that gRPC returns to their pool.
var pooled = func() int {
	n := 1
	for mem.IsBelowBufferPoolingThreshold(n) {
		n *= 2
	}
	return n
}()

// smallAnswer is the size up to which answers use gRPC's pooled buffers. Above it
// those have few sizes: 43 kB would take a megabyte.
const smallAnswer = 4 << 10

// Marshal implements encoding.CodecV2.
func (c countingCodec) Marshal(v any) (mem.BufferSlice, error) {
	a, ok := v.(*answer)
	if !ok {
		return c.CodecV2.Marshal(v)
	}
	size := proto.Size(a.message)
	var buffer *[]byte
	if a.small = size <= smallAnswer; a.small {
		buffer = mem.DefaultBufferPool().Get(max(size, pooled))
	} else {
		exact := make([]byte, size)
		buffer = &exact
	}
	encoded, err := proto.MarshalOptions{UseCachedSize: true}.MarshalAppend((*buffer)[:0], a.message)
	if err != nil {
		return nil, err
	}
	*buffer = encoded
	a.message = nil // It is larger than its encoding.
	a.size = int64(cap(encoded))
	a.hold()
	return mem.BufferSlice{mem.NewBuffer(buffer, a)}, nil
}

// hold counts an answer. If the client leaves too much unread, its connection is
// closed, unless it is a proxy's.
func (a *answer) hold() {
	c := a.conn
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return
	}
	c.answers.add(a)
	a.listed = true
	c.unread += a.size
	unread, held := c.unread, a.from.held.Add(a.size)
	c.mu.Unlock()
	if !c.proxy && c.tooMuch(unread, held) {
		_ = c.Close()
		c.control.Closed(c.control.Limits.Name(&c.control.Limits.HeldBytesPerAddress), a.from.key)
	}
}

// tooMuch reports whether a connection with so much unread is over its share, or its
// address, for which so much is held, over its limit because of this connection, too.
func (c *conn) tooMuch(unread, held int64) bool {
	limit := c.control.Limits.HeldBytesPerAddress
	return exceeds(unread, max(min(limit, 1), limit/connectionShare)) || exceeds(held, limit) && unread > littleHeld
}

// Get implements mem.BufferPool. gRPC never calls it on an answer.
func (a *answer) Get(length int) *[]byte { return mem.DefaultBufferPool().Get(length) }

// Put implements mem.BufferPool: gRPC releases the answer.
func (a *answer) Put(buffer *[]byte) {
	c := a.conn
	c.mu.Lock()
	if a.listed && !c.closed {
		a.listed = false
		c.answers.remove(a)
		c.unread -= a.size
		a.from.held.Add(-a.size)
	}
	c.mu.Unlock()
	if a.small {
		mem.DefaultBufferPool().Put(buffer)
	}
}
