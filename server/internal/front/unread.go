package front

import (
	"google.golang.org/grpc/encoding"
	codec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
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

// answer is a response that is counted from when it is encoded until gRPC releases it:
// when the response has been completely written to the connection, or when the stream is
// reset.
type answer struct {
	message proto.Message
	call    *call
}

// countingCodec counts responses when it encodes them. It passes all other messages, except encoded ones,
// to gRPC's codec.
type countingCodec struct{ encoding.CodecV2 }

func newCodec() encoding.CodecV2 { return countingCodec{encoding.GetCodecV2(codec.Name)} }

// pooled is the smallest size of a buffer that gRPC releases.
var pooled = func() int {
	n := 1
	for mem.IsBelowBufferPoolingThreshold(n) {
		n *= 2
	}
	return n
}()

// Marshal implements encoding.CodecV2.
func (c countingCodec) Marshal(v any) (mem.BufferSlice, error) {
	var a *answer
	switch v := v.(type) {
	case mem.BufferSlice: // encoded once for all streams
		return v, nil
	case *answer:
		a = v
	default:
		return c.CodecV2.Marshal(v)
	}
	buffer := make([]byte, 0, max(proto.Size(a.message), pooled)) // gRPC's pool has only a few sizes.
	buffer, err := proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(buffer, a.message)
	if err != nil {
		return nil, err
	}
	a.message = nil // Release the message, because it uses more memory than its encoding.
	budget, conn, size := a.call.budget, a.call.conn, int64(cap(buffer))
	conn.hold(budget, size)
	return mem.BufferSlice{mem.NewBuffer(&buffer, notifying(func() { conn.release(budget, size) }))}, nil
}

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
