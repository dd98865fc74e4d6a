//go:build slow

package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/lightwatch"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// audience is a large number of watchers that read frame by frame, as cheaply as possible, so
// that the benchmark measures the server rather than the watchers.
type audience struct {
	conns []*audienceConn
}

// audienceConn is one of an audience's connections, with its streams.
type audienceConn struct {
	conn    interface{ Close() }
	plan    watchPlan
	opened  chan struct{} // closed when every stream has received its header
	waiting int           // number of streams still waiting for their header
	closing chan struct{} // closed when the audience closes
	done    chan struct{} // closed when a stream has ended
	end     sync.Once
	failure error // why a stream ended; read only after done is closed

	streams []watcher
}

// watcher is one stream and its progress. It implements lightwatch.Receiver for the stream.
type watcher struct {
	conn    *audienceConn
	seen    atomic.Int64 // number of events received
	version int32        // version of the last event, 0 before the first
}

// watchPlan specifies how an audience watches.
type watchPlan struct {
	// requests holds one request per stream. perConnection is the number of streams per
	// connection.
	requests      []*pb.WatchRequest
	perConnection int
	// versioned makes the watchers check that versions have no gaps. It is off for bare
	// servers, which repeat one event.
	versioned bool
	// tls encrypts the connections.
	tls bool
	// events makes the watchers read Server-Sent Events as browsers do, with one stream per
	// connection.
	events bool
}

// sameRequest returns the same request for n streams.
func sameRequest(request *pb.WatchRequest, n int) []*pb.WatchRequest {
	all := make([]*pb.WatchRequest, n)
	for i := range all {
		all[i] = request
	}
	return all
}

// openAudience opens an audience's streams and returns when all are open. The streams end when
// the benchmark ends or the audience is closed.
func openAudience(b *testing.B, address string, plan watchPlan) *audience {
	b.Helper()
	a := &audience{}
	for requests := plan.requests; len(requests) > 0; {
		n := min(plan.perConnection, len(requests))
		conn, err := openCrowdConn(b.Context(), address, requests[:n], plan)
		require.NoError(b, err)
		a.conns = append(a.conns, conn)
		requests = requests[n:]
		// Open a few connections at a time: the benchmark is not about how the server handles
		// bursts of calls.
		require.NoError(b, a.conns[max(0, len(a.conns)-16)].waitOpen())
	}
	for _, conn := range a.conns {
		require.NoError(b, conn.waitOpen())
	}
	b.Cleanup(func() { a.close(b) })
	return a
}

// close closes all connections. The benchmark fails if a stream ended before that or had a gap.
func (a *audience) close(b *testing.B) {
	b.Helper()
	for _, conn := range a.conns {
		close(conn.closing)
	}
	for _, conn := range a.conns {
		conn.conn.Close()
		select {
		case <-conn.done:
			require.NoError(b, conn.failure)
		default:
		}
	}
	a.conns = nil
}

func openCrowdConn(ctx context.Context, address string, requests []*pb.WatchRequest, plan watchPlan) (*audienceConn, error) {
	options := lightwatch.Options{UserAgent: "audience", Streams: len(requests)}
	if plan.tls {
		options.TLS = anyCertificate
	}
	c := &audienceConn{
		plan: plan, opened: make(chan struct{}), waiting: len(requests),
		closing: make(chan struct{}), done: make(chan struct{}), streams: make([]watcher, len(requests)),
	}
	if plan.events {
		c.streams[0].conn, c.streams[0].version = c, requests[0].GetAfterVersion()
		conn, err := lightwatch.WatchEvents(ctx, address, options, requests[0], &c.streams[0])
		c.conn = conn
		return c, err
	}
	conn, err := lightwatch.Dial(ctx, address, options)
	if err != nil {
		return nil, err
	}
	c.conn = conn
	for i, request := range requests {
		c.streams[i].conn, c.streams[i].version = c, request.GetAfterVersion()
		if _, err := conn.Watch(request, &c.streams[i]); err != nil {
			return c, err
		}
	}
	return c, nil
}

// waitOpen waits until every stream has its header.
func (c *audienceConn) waitOpen() error {
	select {
	case <-c.opened:
		return nil
	case <-c.done:
		return c.failure
	case <-time.After(time.Minute):
		return errors.New("the streams did not open")
	}
}

// Opened implements lightwatch.Receiver.
func (w *watcher) Opened() {
	c := w.conn
	if c.waiting--; c.waiting == 0 {
		close(c.opened)
	}
}

// Update implements lightwatch.Receiver.
func (w *watcher) Update(u *lightwatch.Update) error {
	switch u.Kind {
	case lightwatch.Event:
	case lightwatch.Game:
		if w.version == 0 {
			return nil // the first message of a stream
		}
		return errors.New("a game arrived instead of events")
	default:
		return nil
	}
	if w.conn.plan.versioned && w.version > 0 && u.Version != w.version+1 {
		return fmt.Errorf("version %d after %d", u.Version, w.version)
	}
	w.version = u.Version
	w.seen.Add(1)
	return nil
}

// Ended implements lightwatch.Receiver. Only the audience may end a stream.
func (w *watcher) Ended(err error) {
	c := w.conn
	select {
	case <-c.closing:
		return
	default:
	}
	c.end.Do(func() {
		c.failure = errors.Join(errors.New("a stream was ended"), err)
		close(c.done)
	})
}

// size returns the number of streams.
func (a *audience) size() int {
	n := 0
	for _, conn := range a.conns {
		n += len(conn.streams)
	}
	return n
}

// total returns the number of events received, summed over all streams.
func (a *audience) total() int64 {
	total := int64(0)
	for _, conn := range a.conns {
		for i := range conn.streams {
			total += conn.streams[i].seen.Load()
		}
	}
	return total
}

// least returns the number of events received by the stream that has received the fewest.
func (a *audience) least() int64 {
	least := a.conns[0].streams[0].seen.Load()
	for _, conn := range a.conns {
		for i := range conn.streams {
			least = min(least, conn.streams[i].seen.Load())
		}
	}
	return least
}

// requireVersion fails the benchmark unless the last event that every stream received has the given
// version. No event may be in flight.
func (a *audience) requireVersion(b *testing.B, version int32) {
	b.Helper()
	for _, conn := range a.conns {
		for i := range conn.streams {
			require.Equal(b, version, conn.streams[i].version)
		}
	}
}

// awaitLeast waits until every stream has seen the given number of events.
func (a *audience) awaitLeast(b *testing.B, events int64) {
	b.Helper()
	a.await(b, func() bool { return a.least() >= events })
}

// await blocks until enough returns true.
func (a *audience) await(b *testing.B, enough func() bool) {
	b.Helper()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	late := time.After(time.Minute)
	for !enough() {
		select {
		case <-look.C:
		case <-late:
			b.Fatal("events did not arrive")
		}
		for _, conn := range a.conns {
			select {
			case <-conn.done:
				b.Fatal("a connection of watchers ended: ", conn.failure)
			default:
			}
		}
	}
}
