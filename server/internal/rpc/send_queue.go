package rpc

import (
	"context"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/server/internal/match"
)

const (
	// maxQueued is the size of the messages, in bytes, that gRPC may keep for a stream before the
	// server waits for the client to read. gRPC's own limit is 64 kB without what it needs for each
	// message.
	maxQueued = 8 << 10
	// receiptEvery is the size of the messages after which one has a receipt.
	receiptEvery = maxQueued / 4
	// messageOverhead is what gRPC needs for a message that it keeps, beside its bytes.
	messageOverhead = 160
)

// encoded is a message for gRPC that is encoded once for all streams.
type encoded struct {
	data mem.BufferSlice
	// prepared is what to send if the message has no receipt. It is nil if few streams share the message.
	prepared *grpc.PreparedMsg
}

// Encoded returns the encoding, for the server's codec.
func (e *encoded) Encoded() mem.BufferSlice { return e.data }

func encode(m proto.Message) (*encoded, error) {
	data, err := proto.Marshal(m)
	return &encoded{data: mem.BufferSlice{mem.SliceBuffer(data)}}, err
}

// prepare encodes a message once for all streams like the given one.
func prepare(stream grpc.ServerStream, m proto.Message) (*encoded, error) {
	e, err := encode(m)
	if err != nil {
		return nil, err
	}
	prepared := &grpc.PreparedMsg{}
	if err := prepared.Encode(stream, e); err != nil {
		return nil, err
	}
	e.prepared = prepared
	return e, nil
}

// sendQueue limits what gRPC keeps for a stream. gRPC has no hook for the moment at which it has written a
// message. Some messages therefore end with an empty buffer, the receipt, which gRPC releases when it has
// written the message, and thus all earlier messages of the stream, or when it drops the stream. A sendQueue
// is the mem.BufferPool of its receipts, so gRPC releases one by calling its Put.
type sendQueue struct {
	sent     int64         // size of all messages
	written  atomic.Int64  // size of the messages that gRPC is known to have written
	awaited  atomic.Int64  // value of sent at the receipt that gRPC has not released, or 0
	released chan struct{} // receives a value after a receipt has been released
}

func newSendQueue() sendQueue { return sendQueue{released: make(chan struct{}, 1)} }

// receipt is the buffer of all receipts. It has the smallest capacity, a power of two, that gRPC releases.
var receipt = func() []byte {
	n := 1
	for mem.IsBelowBufferPoolingThreshold(n) {
		n *= 2
	}
	return make([]byte, 0, n)
}()

// send sends a message on a stream. If gRPC already keeps maxQueued bytes, send first waits until gRPC
// has written some of them or the stream has ended. Streams that do not use gRPC have no queue.
func (q *sendQueue) send(stream grpc.ServerStream, form match.Form, m any) error {
	if form != match.Prepared {
		return stream.SendMsg(m)
	}
	e, ok := m.(*encoded)
	if !ok {
		var err error
		if e, err = encode(m.(proto.Message)); err != nil {
			return err
		}
	}
	for q.awaited.Load() > 0 && q.sent-q.written.Load() >= maxQueued {
		select {
		case <-q.released:
		case <-stream.Context().Done():
			return context.Cause(stream.Context())
		}
	}
	q.sent += int64(e.data.Len() + messageOverhead)
	if q.awaited.Load() == 0 && q.sent-q.written.Load() >= receiptEvery {
		q.awaited.Store(q.sent)
		return stream.SendMsg(&encoded{data: mem.BufferSlice{e.data[0], mem.NewBuffer(&receipt, q)}})
	}
	if e.prepared != nil {
		return stream.SendMsg(e.prepared)
	}
	return stream.SendMsg(e)
}

// Get implements mem.BufferPool. gRPC never calls it on a sendQueue.
func (q *sendQueue) Get(length int) *[]byte { return mem.DefaultBufferPool().Get(length) }

// Put implements mem.BufferPool. gRPC calls it to release a receipt.
func (q *sendQueue) Put(*[]byte) {
	q.written.Store(q.awaited.Load())
	q.awaited.Store(0)
	select {
	case q.released <- struct{}{}:
	default:
	}
}
