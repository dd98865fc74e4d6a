package admission

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gridstand/gridstand/server/limits"
)

// call is a stream, or a request by HTTP, from the arrival of its headers on. It is the
// context of its handler.
type call struct {
	context.Context                    // ends with the stream
	cancel          context.CancelFunc // nil for HTTP
	conn            *conn
	from            *addressState
	headers         int64 // size of the headers
	opened          int64 // sweep
	// began is the sweep in which a handler began to wait for the request, 0
	// before that.
	began atomic.Int64
	// overdue is set before cancel if the request did not arrive in time.
	overdue atomic.Bool

	at      int  // place in conn.waiting
	state   int8 // guarded by conn.mu
	late    bool // guarded by conn.mu
	running bool // for the handler alone
	// multiplexed says that the connection carries other requests by HTTP at the same
	// time.
	multiplexed bool
}

// States of a call.
const (
	waiting = int8(iota) // for its request
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

// Err implements context.Context. gRPC answers with it if the request did not arrive.
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

// enter counts a call until release, and returns how many its address has open.
func (s *call) enter(forwarded []string) (open int64) {
	c := s.conn.control
	if s.conn.proxy {
		s.from, _ = c.addresses.Enter(c.Proxies.Of(s.conn.RemoteAddr(), forwarded), 0)
	}
	s.from.held.Add(s.headers)
	c.open.Add(1)
	return s.from.open.Add(1)
}

// begin notes that a handler waits for the request.
func (s *call) begin() { s.began.Store(s.conn.control.sweeps.Load()) }

// await notes that a handler waits for a part of the request.
func (s *call) await() {
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	if s.state == open && !s.conn.closed {
		s.state = waiting
		s.conn.waiting.add(s)
		s.conn.waits.Add(1)
		s.conn.control.waiting.Add(1)
	}
}

// arrived notes that the request has arrived.
func (s *call) arrived() {
	s.conn.mu.Lock()
	if s.state == waiting {
		s.unlist()
		s.state = open
	}
	s.conn.mu.Unlock()
}

// unlist removes a call from those without a request. It is called under the
// connection's mu.
func (s *call) unlist() {
	s.conn.waiting.remove(s)
	s.conn.waits.Add(-1)
	s.conn.control.waiting.Add(-1)
	if s.late {
		s.late = false
		s.conn.late--
		s.from.late.Add(-1)
	}
}

// end ends the call when its handler returns, or a stream without a handler ends.
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

// release removes a call from all counts.
func (s *call) release() {
	s.from.held.Add(-s.headers)
	s.conn.release(s.from)
}

// release removes a call of an address from the counts of calls.
func (c *conn) release(from *addressState) {
	c.control.open.Add(-1)
	from.open.Add(-1)
	if c.proxy {
		c.control.addresses.Leave(from.key)
	}
}

// stopReading ends the wait for a request by HTTP.
func (s *call) stopReading() {
	// A proxy's HTTP/2 connection has the requests of others, too. There the server's
	// timeout ends the wait.
	if !s.conn.proxy || !s.multiplexed {
		_ = s.conn.SetReadDeadline(time.Unix(1, 0))
	}
}

// refuse returns the status for a limit that the stream exceeds.
func (s *call) refuse(e *limits.ExceededError) error {
	s.conn.control.Refused(e.Field, s.from.key)
	return s.conn.control.Refuse(e)
}
