package admission

import (
	"context"
	"sync/atomic"
	"time"
)

// call is a stream or an HTTP request whose headers have arrived. It is also its handler's
// context.
type call struct {
	context.Context                    // the stream's context
	cancel          context.CancelFunc // nil for HTTP
	conn            *conn
	from            *addressState
	busy            atomic.Bool // set while addressState.busy counts the call
	headers         int64       // size of the headers in bytes
	opened          int64       // the sweep in which the headers arrived
	// began is the sweep in which a handler began to wait for the request, or 0 if no
	// handler has.
	began atomic.Int64
	// overdue is set before cancel is called if the request did not arrive in time.
	overdue atomic.Bool
	// reached is set once an HTTP request has reached its call's interceptors, failed if the
	// call was a mistake of the client, and exceeded if a limit refused it.
	reached, failed, exceeded atomic.Bool

	at    int  // index in conn.waiting
	state int8 // guarded by conn.mu
	late  bool // guarded by conn.mu
	// multiplexed is set if the connection can carry several HTTP requests concurrently.
	multiplexed bool
}

// The states of a call; gone means that it has ended.
const (
	waiting = int8(iota) // waiting for the request
	open
	gone
)

func (s *call) index() *int { return &s.at }

type callKey struct{}

// Value implements context.Context.
func (s *call) Value(key any) any {
	if key == (callKey{}) {
		return s
	}
	return s.Context.Value(key)
}

// Err implements context.Context. If the request did not arrive in time, gRPC derives the
// status of its response from the error that Err returns.
func (s *call) Err() error {
	err := s.Context.Err()
	if err != nil && s.overdue.Load() {
		return context.DeadlineExceeded
	}
	return err
}

func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// enter counts the call until release is called, and returns the number of open calls from
// the call's address.
func (s *call) enter(forwarded []string) (open int64) {
	c := s.conn.control
	if s.conn.proxy {
		s.from, _ = c.addresses.Enter(c.Proxies.Of(s.conn.RemoteAddr(), forwarded), 0)
	}
	s.from.held.Add(s.headers)
	c.open.Add(1)
	return s.from.open.Add(1)
}

// begin records that a handler has begun to wait for the request.
func (s *call) begin() {
	s.began.Store(s.conn.control.sweeps.Load())
	s.keepsBusy(false)
}

// keepsBusy records whether the call keeps the server busy.
func (s *call) keepsBusy(busy bool) {
	if s.busy.Swap(busy) == busy {
		return
	}
	if busy {
		s.from.busy.Add(1)
	} else {
		s.from.busy.Add(-1)
	}
}

// await records that a handler is waiting for the rest of the request.
func (s *call) await() {
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	if s.state == open && !s.conn.closed {
		s.list()
	}
}

// list adds the call to the list of calls that wait for their request. The caller holds the
// connection's mu.
func (s *call) list() {
	s.state = waiting
	s.conn.waiting.add(s)
	s.conn.waits.Add(1)
	s.from.waiting.Add(1)
	s.conn.control.waiting.Add(1)
}

// arrived records that the request has arrived.
func (s *call) arrived() {
	s.conn.mu.Lock()
	if s.state == waiting {
		s.unlist()
		s.state = open
	}
	s.conn.mu.Unlock()
}

// unlist reverses list. The caller holds the connection's mu.
func (s *call) unlist() {
	s.conn.waiting.remove(s)
	s.conn.waits.Add(-1)
	s.from.waiting.Add(-1)
	s.conn.control.waiting.Add(-1)
	if s.late {
		s.late = false
		s.conn.late--
		s.from.late.Add(-1)
	}
}

// end ends the call after its handler has returned, or after a stream without a handler
// has ended.
func (s *call) end() {
	s.conn.mu.Lock()
	was := s.state
	if was == waiting {
		s.unlist()
	}
	s.state = gone
	s.conn.mu.Unlock()
	if was != gone {
		if s.cancel != nil {
			s.cancel()
		}
		s.release()
	}
}

// release removes the call and its headers from all counts.
func (s *call) release() {
	s.keepsBusy(false)
	s.from.held.Add(-s.headers)
	s.conn.release(s.from)
}

// release removes one call from the Control's count and the address's count.
func (c *conn) release(from *addressState) {
	c.control.open.Add(-1)
	from.open.Add(-1)
	if c.proxy {
		c.control.addresses.Leave(from.key)
	}
}

// stopReading ends the wait for the rest of an HTTP request.
func (s *call) stopReading() {
	// A proxy's HTTP/2 connection also carries other clients' requests. On such a
	// connection, leave it to the HTTP server's timeout to end the wait.
	if !s.conn.proxy || !s.multiplexed {
		_ = s.conn.SetReadDeadline(time.Unix(1, 0))
	}
}
