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
type encoded struct{ data mem.BufferSlice }

// Encoded returns the encoding, for the server's codec.
func (e *encoded) Encoded() mem.BufferSlice { return e.data }

func encode(m proto.Message) (*encoded, error) {
	data, err := proto.Marshal(m)
	return &encoded{mem.BufferSlice{mem.SliceBuffer(data)}}, err
}

// sendQueue limits what gRPC keeps for a stream. gRPC has no hook for the moment at which it has written a
// message. Some messages therefore end with an empty buffer, the receipt, which gRPC releases when it has
// written the message, and thus all earlier messages of the stream, or when it drops the stream. A sendQueue
// is the mem.BufferPool of its receipts, so gRPC releases one by calling its Put. It is not part of a larger
// struct, because gRPC retains it.
type sendQueue struct {
	sent     int64         // size of all messages
	receipts int64         // number of receipts
	ends     [8]int64      // values of sent at the latest receipts; at most four have not been released
	released atomic.Int64  // number of receipts that gRPC has released
	progress chan struct{} // receives a value after a receipt has been released
}

// newSendQueue returns the queue of a stream, or nil if the stream does not use gRPC.
func newSendQueue(form match.Form) *sendQueue {
	if form != match.Prepared {
		return nil
	}
	return &sendQueue{progress: make(chan struct{}, 1)}
}

// receipt is the buffer of all receipts. It has the smallest capacity, a power of two, that gRPC releases.
var receipt = func() []byte {
	n := 1
	for mem.IsBelowBufferPoolingThreshold(n) {
		n *= 2
	}
	return make([]byte, 0, n)
}()

// send sends a message on a stream. If gRPC already keeps maxQueued bytes, send first waits until gRPC
// has written some of them or the stream has ended. last is set if no message follows. q may be nil.
func (q *sendQueue) send(stream grpc.ServerStream, m any, last bool) error {
	if q == nil {
		return stream.SendMsg(m)
	}
	e, ok := m.(*encoded)
	if !ok {
		var err error
		if e, err = encode(m.(proto.Message)); err != nil {
			return err
		}
	}
	if err := q.wait(stream.Context(), maxQueued); err != nil {
		return err
	}
	q.sent += int64(e.data.Len() + messageOverhead)
	if last || q.sent-q.endOf(q.receipts) >= receiptEvery {
		q.receipts++
		q.ends[q.receipts%int64(len(q.ends))] = q.sent
		e = &encoded{mem.BufferSlice{e.data[0], mem.NewBuffer(&receipt, q)}}
	}
	return stream.SendMsg(e)
}

// finish waits until gRPC has released one more receipt or the stream has ended, and reports whether it
// has released all. A handler calls it until then before it returns, because its stream no longer counts
// toward limits after that. q may be nil.
func (q *sendQueue) finish(ctx context.Context) (done bool, err error) {
	if q == nil {
		return true, nil
	}
	released := q.released.Load()
	if released == q.receipts {
		return true, nil
	}
	return false, q.wait(ctx, q.sent-q.endOf(released+1)+1)
}

// wait waits until gRPC keeps less than the given size, in bytes, of the messages up to the last receipt.
func (q *sendQueue) wait(ctx context.Context, size int64) error {
	for {
		released := q.released.Load()
		if released == q.receipts || q.sent-q.endOf(released) < size {
			return nil
		}
		select {
		case <-q.progress:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// endOf returns the size of all messages up to the nth receipt.
func (q *sendQueue) endOf(n int64) int64 { return q.ends[n%int64(len(q.ends))] }

// Get implements mem.BufferPool. gRPC never calls it on a sendQueue.
func (q *sendQueue) Get(length int) *[]byte { return mem.DefaultBufferPool().Get(length) }

// Put implements mem.BufferPool. gRPC calls it to release a receipt.
func (q *sendQueue) Put(*[]byte) {
	q.released.Add(1)
	select {
	case q.progress <- struct{}{}:
	default:
	}
}
