package admission

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/gridstand/gridstand/server/limits"
)

// bodyMargin is how much longer than a message the body of a request may be: protocols
// put it into an envelope.
const bodyMargin = 1 << 10

// Handler returns a handler that bounds what the requests to next hold open, in the same
// counts as the streams of gRPC. It serves connections whose remote address is that of a
// connection of the Control; http.Server.ConnContext puts it into the context as a peer.
func (c *Control) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.handlers.Add(1)
		defer c.handlers.Add(-1)
		p, ok := peer.FromContext(r.Context())
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		addr, ok := p.Addr.(*peerAddr)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		if c.stopping.Load() {
			c.Answer(w, r, c.Stopping)
			return
		}
		s := &call{
			Context: r.Context(), conn: addr.conn, from: addr.conn.from, state: open,
			headers: sizeOf(metadata.MD(r.Header)), opened: c.sweeps.Load(), multiplexed: r.ProtoMajor > 1,
		}
		s.begin()
		answer := &httpAnswer{ResponseWriter: w, call: s}
		defer answer.end()
		if exceeded := c.enterHTTP(s, r); exceeded != nil {
			s.conn.slow(refusedPenalty)
			c.Answer(answer, r, s.refuse(exceeded))
			return
		}
		request := r.WithContext(s)
		request.Body = c.body(w, r, answer)
		next.ServeHTTP(answer, request)
	})
}

// Handlers returns how many handlers of requests have not returned.
func (c *Control) Handlers() int { return int(c.handlers.Load()) }

// enterHTTP counts a request, and returns the error for the limit that it exceeds, or nil.
func (c *Control) enterHTTP(s *call, r *http.Request) *limits.ExceededError {
	open := s.enter(r.Header.Values("X-Forwarded-For"))
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	return c.exceeded(s, open)
}

// body returns the body of a request, for which a client has as long as for that of a
// stream. One that is too long ends with an error, and its connection is closed.
func (c *Control) body(w http.ResponseWriter, r *http.Request, answer *httpAnswer) io.ReadCloser {
	if r.Body == http.NoBody {
		answer.run()
		return r.Body
	}
	if c.Limits.MessageBytes == 0 {
		return &body{r.Body, answer}
	}
	most := int64(c.Limits.MessageBytes + bodyMargin)
	if r.ContentLength > most {
		w.Header().Set("Connection", "close") // The server would read the rest otherwise.
	}
	return &body{http.MaxBytesReader(w, r.Body, most), answer}
}

// EnterSSE counts a request for Server-Sent Events until leave is called, given a context
// with its peer and metadata. The error is the status for a client whose address has too
// many.
func (c *Control) EnterSSE(ctx context.Context) (leave func(), err error) {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return func() {}, nil
	}
	addr, ok := p.Addr.(*peerAddr)
	if !ok {
		return func() {}, nil
	}
	from, _ := c.addresses.Enter(c.Proxies.Of(addr, metadata.ValueFromIncomingContext(ctx, "x-forwarded-for")), 0)
	leave = func() {
		from.sse.Add(-1)
		c.addresses.Leave(from.key)
	}
	if !exceeds(from.sse.Add(1), c.Limits.SSEPerAddress) {
		return leave, nil
	}
	leave()
	addr.conn.slow(refusedPenalty)
	exceeded := c.Limits.Exceeded(&c.Limits.SSEPerAddress, "requests of one address for Server-Sent Events at once", retryAfter)
	c.Refused(exceeded.Field, from.key)
	return nil, c.Refuse(exceeded)
}

// body is the body of a request by HTTP.
type body struct {
	io.ReadCloser
	answer *httpAnswer
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	s := b.answer.call
	s.await()
	n, err := b.ReadCloser.Read(p)
	s.arrived()
	switch {
	case errors.Is(err, io.EOF):
		b.answer.run()
	case err != nil && s.overdue.Load():
		err = context.DeadlineExceeded
	}
	return n, err
}

// httpAnswer writes the answer to a request by HTTP. What a Write writes counts until the
// Write returns: until the connection has taken it.
type httpAnswer struct {
	http.ResponseWriter
	call    *call
	running atomic.Bool
	// status is the answer's, 0 before it is known.
	status   int
	refused  bool // Writes fail.
	hijacked bool
}

// run counts the request as running, if it is not counted yet.
func (a *httpAnswer) run() {
	if a.running.CompareAndSwap(false, true) {
		a.call.conn.control.running.Add(1)
	}
}

// pause undoes run while something else waits for the client, and reports whether the
// request was running.
func (a *httpAnswer) pause() bool {
	was := a.running.CompareAndSwap(true, false)
	if was {
		a.call.conn.control.running.Add(-1)
	}
	return was
}

// end ends the request when its handler returns.
func (a *httpAnswer) end() {
	a.pause()
	if a.hijacked {
		return
	}
	if a.status == http.StatusTooManyRequests || a.call.Context.Err() != nil {
		a.call.conn.slow(callPenalty)
	}
	// The server writes what is left in its buffers.
	a.setDeadline(time.Now().Add(a.call.conn.control.Stall))
	a.call.end()
	if a.refused {
		panic(http.ErrAbortHandler) // The answer is not complete.
	}
}

// WriteHeader implements http.ResponseWriter.
func (a *httpAnswer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (a *httpAnswer) Write(p []byte) (int, error) {
	if a.refused || !a.hold(int64(len(p))) {
		a.refused = true
		return 0, http.ErrAbortHandler
	}
	defer a.release(int64(len(p)))
	defer a.waitForClient()()
	return a.ResponseWriter.Write(p)
}

// Flush implements http.Flusher.
func (a *httpAnswer) Flush() { _ = a.FlushError() }

// FlushError is Flush for http.ResponseController.
func (a *httpAnswer) FlushError() error {
	defer a.waitForClient()()
	return http.NewResponseController(a.ResponseWriter).Flush()
}

// waitForClient notes that the client has to read what is written, until the function
// returned is called.
func (a *httpAnswer) waitForClient() (done func()) {
	ran := a.pause()
	a.setDeadline(time.Now().Add(a.call.conn.control.Stall))
	return func() {
		if a.call.multiplexed { // It would end the stream, also if nothing is written.
			a.setDeadline(time.Time{})
		}
		if ran {
			a.run()
		}
	}
}

// Hijack implements http.Hijacker. The request lasts until the connection is closed.
func (a *httpAnswer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	raw, buffered, err := http.NewResponseController(a.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	a.pause()
	s := a.call
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	if !s.conn.closed {
		s.state = gone
		a.hijacked = true
		s.conn.hijacker = s.from // The call, with its context, would be large.
		s.from.held.Add(-s.headers)
	}
	return raw, buffered, nil
}

// Unwrap returns the writer within, for http.ResponseController.
func (a *httpAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// setDeadline sets until when the client has to have read what is written next.
func (a *httpAnswer) setDeadline(at time.Time) {
	if a.call.multiplexed {
		_ = http.NewResponseController(a.ResponseWriter).SetWriteDeadline(at)
	} else {
		_ = a.call.conn.SetWriteDeadline(at)
	}
}

// hold counts what is about to be written. It reports false if the client leaves too much
// unread; then its connection is closed, unless a proxy uses it for other requests, too.
func (a *httpAnswer) hold(size int64) bool {
	s, c := a.call, a.call.conn
	c.mu.Lock()
	c.unread += size
	unread, held := c.unread, s.from.held.Add(size)
	c.mu.Unlock()
	if !c.tooMuch(unread, held) {
		return true
	}
	a.release(size)
	l := c.control.Limits
	if c.proxy && s.multiplexed {
		c.control.Refused(l.Name(&l.HeldBytesPerAddress), s.from.key)
		return false
	}
	_ = c.Close()
	c.control.Closed(l.Name(&l.HeldBytesPerAddress), s.from.key)
	return false
}

// release undoes hold.
func (a *httpAnswer) release(size int64) {
	c := a.call.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unread = max(0, c.unread-size) // It is 0 once the connection is closed.
	a.call.from.held.Add(-size)
}
