package rpc

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/match"
)

// keeping is a stream that keeps messages, as gRPC does, until they are written.
type keeping struct {
	grpc.ServerStream
	ctx context.Context

	mu      sync.Mutex
	kept    []mem.BufferSlice
	written []byte
}

func (k *keeping) Context() context.Context { return k.ctx }

func (k *keeping) SendMsg(m any) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept = append(k.kept, m.(*encoded).Encoded())
	return nil
}

// size returns the size of the messages that the stream keeps.
func (k *keeping) size() (n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, data := range k.kept {
		n += data.Len() + messageOverhead
	}
	return n
}

// write writes up to n messages.
func (k *keeping) write(n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for range min(n, len(k.kept)) {
		k.written = append(k.written, k.kept[0].Materialize()...)
		k.kept[0].Free()
		k.kept = k.kept[1:]
	}
}

// Ensure that a stream keeps no more than maxQueued and the last message, that all messages are sent in
// order, that a message waits for no more to be written than two receipts are apart, and that the stream
// is finished once all messages have been written, and not before.
func TestSendQueue(t *testing.T) {
	t.Parallel()
	const messages = 200
	for name, tt := range map[string]struct {
		size  int // size of a message, in bytes
		reads int // number of messages that are written after each wait
	}{
		"small":            {size: 3, reads: messages},
		"events":           {size: 90, reads: 20},
		"one at a time":    {size: 90, reads: 1},
		"a receipt each":   {size: receiptEvery, reads: 1},
		"larger than that": {size: 3 * maxQueued, reads: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				stream := &keeping{ctx: t.Context()}
				q := newSendQueue(match.Prepared)
				var want []byte
				var sent atomic.Int64
				done := make(chan error, 1)
				go func() {
					var err error
					for i := 0; err == nil && i < messages; i++ {
						data := make([]byte, tt.size)
						data[0] = byte(i)
						want = append(want, data...)
						err = q.send(stream, &encoded{data: mem.BufferSlice{mem.SliceBuffer(data)}}, i == messages-1)
						sent.Add(1)
					}
					for finished := false; err == nil && !finished; {
						finished, err = q.finish(stream.ctx)
					}
					done <- err
				}()
				waits := 0 // how often messages have been written since one was sent
				for synctest.Wait(); len(done) == 0; synctest.Wait() {
					assert.LessOrEqual(t, stream.size(), maxQueued+tt.size+messageOverhead)
					require.Positive(t, stream.size(), "a message waits")
					before := sent.Load()
					stream.write(tt.reads)
					synctest.Wait()
					if waits++; sent.Load() > before {
						waits = 0
					}
					if before < messages {
						assert.LessOrEqual(t, waits*(tt.size+messageOverhead), receiptEvery+tt.size+messageOverhead)
					}
				}
				require.NoError(t, <-done)
				assert.Zero(t, stream.size())
				assert.Equal(t, want, stream.written)
			})
		})
	}
}

// Ensure that a stream that ends while it waits for the client returns its context's cause.
func TestSendQueue_StreamEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("the stream has ended")
		ctx, cancel := context.WithCancelCause(t.Context())
		q := newSendQueue(match.Prepared)
		done := make(chan error)
		go func() {
			stream := &keeping{ctx: ctx}
			var err error
			for err == nil {
				err = q.send(stream, &pb.WatchResponse{Update: &pb.WatchResponse_Audience{Audience: 1}}, false)
			}
			done <- err
		}()
		synctest.Wait()
		cancel(cause)
		require.ErrorIs(t, <-done, cause)
	})
}
