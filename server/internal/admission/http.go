package admission

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// bodyMargin is the number of bytes by which a request body may exceed the limit on the
// message size, because protocols wrap messages in an envelope.
const bodyMargin = 1 << 10

// Handler wraps next in a handler that applies the limits. HTTP requests and gRPC streams
// share the same counts. The limits apply to requests on the Control's connections, which
// the handler recognizes by the peer in the context: http.Server.ConnContext must set it to
// the connection's remote address.
func (c *Control) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.handlers.Add(1)
		defer c.handlers.Add(-1)
		conn := connOf(r.Context())
		if conn == nil {
			next.ServeHTTP(w, r)
			return
		}
		conn.parsed() // If the request is hijacked, nothing else is read.
		if c.stopping.Load() {
			c.Answer(w, r, c.Stopping)
			return
		}
		s := &call{
			Context: r.Context(), conn: conn, from: conn.from, state: open,
			headers: sizeOf(metadata.MD(r.Header)), opened: c.sweeps.Load(), multiplexed: r.ProtoMajor > 1,
		}
		s.begin()
		answer := &httpAnswer{ResponseWriter: w, call: s, isCall: r.Method == http.MethodPost}
		defer answer.end()
		if exceeded := c.enterHTTP(s, r); exceeded != nil {
			s.conn.slow(refusedPenalty)
			c.Answer(answer, r, s.refuse(exceeded))
			return
		}
		s.keepsBusy(s.multiplexed)
		request := r.WithContext(s)
		request.Body = c.body(w, r, answer)
		next.ServeHTTP(answer, request)
	})
}

// Handlers returns the number of HTTP handlers that have not returned.
func (c *Control) Handlers() int { return int(c.handlers.Load()) }

// enterHTTP counts a request. It returns the limit that the request exceeds, or nil.
func (c *Control) enterHTTP(s *call, r *http.Request) (exceeded *int) {
	open := s.enter(r.Header.Values("X-Forwarded-For"))
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	return c.exceeded(s, open)
}

// body returns the request's body, which is subject to the same timeout as a stream's
// request. If the body is too long, reading it returns an error and the connection is
// closed.
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
		w.Header().Set("Connection", "close") // Without this, the HTTP server would read the rest of the body.
	}
	return &body{http.MaxBytesReader(w, r.Body, most), answer}
}

// EnterSSE counts a request for Server-Sent Events until leave is called. ctx must contain
// the request's peer and metadata. If the client's address has too many such requests,
// EnterSSE returns an error with the status to send.
func (c *Control) EnterSSE(ctx context.Context) (leave func(), err error) {
	conn := connOf(ctx)
	if conn == nil {
		return func() {}, nil
	}
	if s := callOf(ctx); s != nil {
		s.keepsBusy(false)
	}
	from, _ := c.addresses.Enter(c.Proxies.Of(conn.RemoteAddr(), metadata.ValueFromIncomingContext(ctx, "x-forwarded-for")), 0)
	leave = func() {
		from.sse.Add(-1)
		c.addresses.Leave(from.key)
	}
	if !exceeds(from.sse.Add(1), c.Limits.SSEPerAddress) {
		return leave, nil
	}
	leave()
	conn.slow(refusedPenalty)
	return nil, c.refuse(&c.Limits.SSEPerAddress, from.key, retryAfter)
}

// body is the body of an HTTP request. Reading it records when the request has arrived.
type body struct {
	io.ReadCloser
	answer *httpAnswer
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	s := b.answer.call
	s.await()
	s.keepsBusy(false)
	n, err := b.ReadCloser.Read(p)
	s.arrived()
	s.keepsBusy(s.multiplexed && !s.reached.Load()) // A stream's handler may have begun before its request arrives.
	switch {
	case errors.Is(err, io.EOF):
		b.answer.run()
	case err != nil && s.overdue.Load():
		err = context.DeadlineExceeded
	}
	return n, err
}

// httpAnswer writes the response to an HTTP request. The bytes passed to Write are counted
// until Write returns, that is, until the connection has accepted them.
type httpAnswer struct {
	http.ResponseWriter
	call    *call
	running atomic.Bool
	// status is the status of the response, or 0 before it is known.
	status   int
	isCall   bool // set if the request can only be a call
	exceeds  bool // set if the response refuses the request because of a limit, or is one error too many
	refused  bool // set once the client has too many unread bytes; all further Writes fail
	hijacked bool
}

// run counts the request as running unless it is already counted.
func (a *httpAnswer) run() {
	if a.running.CompareAndSwap(false, true) {
		a.call.conn.control.running.Add(1)
	}
}

// pause stops counting the request as running while it waits for the client, and reports
// whether it was counted.
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
	a.head(http.StatusOK)
	if a.exceeds || a.call.Context.Err() != nil {
		a.call.conn.slow(callPenalty)
	}
	// The server has yet to flush its buffers.
	a.setDeadline(time.Now().Add(a.call.conn.control.Stall))
	a.call.end()
	if a.refused {
		panic(http.ErrAbortHandler) // The client must not mistake the response for a complete one.
	}
}

// WriteHeader implements http.ResponseWriter.
func (a *httpAnswer) WriteHeader(code int) {
	a.head(code)
	a.ResponseWriter.WriteHeader(code)
}

// head records the response's status unless it is known already. If the response refuses
// the request because of a limit, or the client's address causes too many errors, the
// connection is closed after it, together with the requests that the client has already
// sent. A client could otherwise open thousands of connections, send many requests on each,
// and occupy the server with their refusal.
func (a *httpAnswer) head(code int) {
	if a.status != 0 {
		return
	}
	a.status = code
	s := a.call
	// In gRPC-Web and streams, errors have the status 200.
	failed := s.failed.Load()
	if !s.reached.Load() {
		failed = code/100 == 4 || code/100 == 2 && a.isCall
	}
	a.exceeds = code == http.StatusTooManyRequests || s.exceeded.Load() || a.Header().Get("Grpc-Status") == exhausted ||
		failed && !s.conn.control.failures.Take(s.from.key)
	if a.exceeds && !s.multiplexed && !s.conn.proxy {
		a.Header().Set("Connection", "close")
	}
}

// isMistake reports whether err is the answer to a call that no correct client makes often. It
// does not include the server's own errors, nor moves that are too late.
func isMistake(err error) bool {
	switch status.Code(err) {
	case codes.InvalidArgument, codes.NotFound, codes.Unimplemented, codes.Unauthenticated:
		return true
	}
	return false
}

// exhausted is the gRPC status of calls that exceed a limit, as a header.
var exhausted = strconv.Itoa(int(codes.ResourceExhausted))

// UnaryHTTP is an interceptor that notices the errors of calls by HTTP.
func (c *Control) UnaryHTTP(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	response, err := handler(ctx, request)
	noticeError(ctx, err)
	return response, err
}

// StreamHTTP is like UnaryHTTP, for streams.
func (c *Control) StreamHTTP(service any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if s := callOf(stream.Context()); s != nil {
		s.reached.Store(true) // The response begins before the handler returns.
		s.keepsBusy(false)
	}
	err := handler(service, stream)
	noticeError(stream.Context(), err)
	return err
}

func noticeError(ctx context.Context, err error) {
	if s := callOf(ctx); s != nil {
		s.reached.Store(true)
		s.failed.Store(isMistake(err))
		s.exceeded.Store(status.Code(err) == codes.ResourceExhausted)
	}
}

// Write implements http.ResponseWriter.
func (a *httpAnswer) Write(p []byte) (int, error) {
	a.head(http.StatusOK)
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

// FlushError is the variant of Flush that http.ResponseController uses.
func (a *httpAnswer) FlushError() error {
	a.head(http.StatusOK)
	defer a.waitForClient()()
	return http.NewResponseController(a.ResponseWriter).Flush()
}

// waitForClient records that the server is waiting for the client to read. The wait ends
// when done is called.
func (a *httpAnswer) waitForClient() (done func()) {
	ran := a.pause()
	a.setDeadline(time.Now().Add(a.call.conn.control.Stall))
	return func() {
		if a.call.multiplexed { // Left in place, the deadline would end the stream even while nothing is being written.
			a.setDeadline(time.Time{})
		}
		if ran {
			a.run()
		}
	}
}

// Hijack implements http.Hijacker. The request is counted until the connection is closed.
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
		s.conn.hijacker = s.from // Retain only the address: the call and its context would use a lot of memory.
		s.from.held.Add(-s.headers)
	}
	return raw, buffered, nil
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (a *httpAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// setDeadline sets the deadline for writing to the client.
func (a *httpAnswer) setDeadline(at time.Time) {
	if a.call.multiplexed {
		_ = http.NewResponseController(a.ResponseWriter).SetWriteDeadline(at)
	} else {
		_ = a.call.conn.SetWriteDeadline(at)
	}
}

// hold counts size bytes that are about to be written, and reports whether they may be. If
// the client has too many unread bytes, they may not, and hold closes the connection
// unless a proxy also uses it for other clients' requests.
func (a *httpAnswer) hold(size int64) bool {
	s, c := a.call, a.call.conn
	c.mu.Lock()
	c.unread += size
	unread, held := c.unread, s.from.held.Add(size)
	c.mu.Unlock()
	l := c.control.Limits
	shared := c.proxy && s.multiplexed // one client's unread bytes must not refuse other clients' responses
	full := exceeds(held, l.HeldBytesPerAddress)
	if !shared {
		full = c.tooMuch(unread, held)
	}
	if !full {
		return true
	}
	a.release(size)
	if shared {
		c.control.Refused(l.Name(&l.HeldBytesPerAddress), s.from.key)
		return false
	}
	_ = c.Close()
	c.control.Closed(l.Name(&l.HeldBytesPerAddress), s.from.key)
	return false
}

// release reverses hold.
func (a *httpAnswer) release(size int64) {
	c := a.call.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unread = max(0, c.unread-size) // Closing the connection resets unread to 0.
	a.call.from.held.Add(-size)
}
