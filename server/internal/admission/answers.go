package admission

import (
	"google.golang.org/grpc/encoding"
	codec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// answer is a response that is counted from when it is encoded until gRPC releases it:
// when the response has been completely written to the connection, or when the stream is
// reset. It is the mem.BufferPool of its own buffer, so gRPC releases it by calling its
// Put.
type answer struct {
	message proto.Message
	conn    *conn
	from    *addressState

	size   int64 // size of the buffer, in bytes
	small  bool  // set if the buffer is from gRPC's pool
	at     int   // index in conn.answers
	listed bool  // set while in conn.answers; guarded by conn.mu
}

func (a *answer) index() *int { return &a.at }

// answer wraps a response in an answer, so that countingCodec counts it.
func (s *call) answer(reply any) (any, error) {
	m, ok := reply.(proto.Message)
	if !ok {
		return reply, nil
	}
	c := s.conn.control
	if limit := int64(c.Limits.HeldBytesPerAddress); s.conn.proxy && limit > 0 && s.from.held.Load() > limit/2 {
		if size := int64(proto.Size(m)); size > largeAnswer && s.from.held.Load()+size > limit {
			return nil, s.refuse(&c.Limits.HeldBytesPerAddress)
		}
	}
	return &answer{message: m, conn: s.conn, from: s.from}, nil
}

// Encoded is a message that is already encoded.
type Encoded interface {
	Encoded() mem.BufferSlice
}

// countingCodec counts responses when it encodes them. It passes all other messages, except those
// that are Encoded, to gRPC's codec.
type countingCodec struct{ encoding.CodecV2 }

func newCodec() encoding.CodecV2 { return countingCodec{encoding.GetCodecV2(codec.Name)} }

// pooled is the smallest size of a buffer that gRPC returns to its pool.
var pooled = func() int {
	n := 1
	for mem.IsBelowBufferPoolingThreshold(n) {
		n *= 2
	}
	return n
}()

// smallAnswer is the size in bytes up to which responses use gRPC's pooled buffers. For
// larger responses, the pool has only a few sizes: a response of 43 kB would occupy a
// megabyte.
const smallAnswer = 4 << 10

// Marshal implements encoding.CodecV2.
func (c countingCodec) Marshal(v any) (mem.BufferSlice, error) {
	var a *answer
	switch v := v.(type) {
	case Encoded:
		return v.Encoded(), nil
	case *answer:
		a = v
	default:
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
	a.message = nil // Release the message, because it uses more memory than its encoding.
	a.size = int64(cap(encoded))
	a.hold()
	return mem.BufferSlice{mem.NewBuffer(buffer, a)}, nil
}

// hold counts a response. If the client has too many unread bytes, hold closes the
// connection, unless it belongs to a proxy.
func (a *answer) hold() {
	c := a.conn
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return
	}
	if c.proxy {
		// The call may have ended. The address must still be known while it has unread
		// responses.
		a.from, _ = c.control.addresses.Enter(a.from.key, 0)
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

// release removes the response from its address's counts. The caller holds the connection's
// mu.
func (a *answer) release() {
	a.from.held.Add(-a.size)
	if a.conn.proxy {
		a.conn.control.addresses.Leave(a.from.key)
	}
}

// tooMuch reports whether the connection has more unread bytes than its share of the
// limit, or its address exceeds the limit and this connection contributes to that. unread
// and held are the numbers of unread bytes of the connection and of the address.
func (c *conn) tooMuch(unread, held int64) bool {
	limit := c.control.Limits.HeldBytesPerAddress
	return exceeds(unread, max(min(limit, 1), limit/connectionShare)) || exceeds(held, limit) && unread > littleHeld
}

// Get implements mem.BufferPool. gRPC never calls it on an answer.
func (a *answer) Get(length int) *[]byte { return mem.DefaultBufferPool().Get(length) }

// Put implements mem.BufferPool. gRPC calls it to release the response.
func (a *answer) Put(buffer *[]byte) {
	c := a.conn
	c.mu.Lock()
	if a.listed && !c.closed {
		a.listed = false
		c.answers.remove(a)
		c.unread -= a.size
		a.release()
	}
	c.mu.Unlock()
	if a.small {
		mem.DefaultBufferPool().Put(buffer)
	}
}
