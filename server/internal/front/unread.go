package front

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/server/limits"
)

// hold counts n bytes of a response until release is called or the connection is closed. It returns
// false if the address has too many unread bytes; unless the connection belongs to a proxy, it is then
// closed.
func (c *conn) hold(b *Budget, n int64) bool {
	c.mu.Lock()
	if c.closed.Load() {
		c.mu.Unlock()
		return false
	}
	c.unread[b] += n
	limit := c.front.Limits[limits.HeldBytesPerAddress]
	full := exceeds(b.unread.Add(n), limit)
	c.mu.Unlock()
	if full && !c.proxy {
		_ = c.Close()
		c.front.Closed(limits.HeldBytesPerAddress.String(), b.address)
	}
	return !full
}

// release reverses hold, unless closing the connection has.
func (c *conn) release(b *Budget, n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed.Load() {
		return
	}
	b.unread.Add(-n)
	if c.unread[b] -= n; c.unread[b] == 0 {
		delete(c.unread, b)
	}
}

// encode encodes a response, which counts until gRPC releases it: when it has been completely written to the
// connection, or when the stream is reset. The message uses more memory than its encoding, and is not kept.
func (s *call) encode(response proto.Message) (mem.BufferSlice, error) {
	buffer := make([]byte, 0, max(proto.Size(response), pooled)) // gRPC's pool has only a few sizes.
	buffer, err := proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(buffer, response)
	if err != nil {
		return nil, status.Errorf(codes.Internal, "cannot encode the response: %v", err)
	}
	budget, conn, size := s.budget, s.conn, int64(cap(buffer))
	conn.hold(budget, size)
	return mem.BufferSlice{mem.NewBuffer(&buffer, notifying(func() { conn.release(budget, size) }))}, nil
}

// passing is gRPC's codec, but passes encoded messages.
type passing struct{ encoding.CodecV2 }

// Marshal implements encoding.CodecV2.
func (p passing) Marshal(v any) (mem.BufferSlice, error) {
	if encoded, ok := v.(mem.BufferSlice); ok {
		return encoded, nil
	}
	return p.CodecV2.Marshal(v)
}

// pooled is the size of a small buffer: gRPC releases only those of more than 1 kB (see TestNotify), and Go's next
// size is this.
const pooled = 1152

// notifying is the mem.BufferPool of a single buffer. It is called when gRPC releases the buffer.
type notifying func()

// Get implements mem.BufferPool. gRPC never calls it.
func (notifying) Get(length int) *[]byte { return mem.DefaultBufferPool().Get(length) }

// Put implements mem.BufferPool.
func (released notifying) Put(*[]byte) { released() }

// Notify returns a copy of an encoded message. gRPC calls released when the copy has been completely
// written to the connection, or when the stream is reset.
func Notify(message mem.BufferSlice, released func()) mem.BufferSlice {
	buffer := make([]byte, message.Len(), max(message.Len(), pooled))
	message.CopyTo(buffer)
	return mem.BufferSlice{mem.NewBuffer(&buffer, notifying(released))}
}
