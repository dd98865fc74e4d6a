package front

import (
	"bufio"
	"net"
	"net/http"
	"time"
)

// Handler wraps next in a handler that applies the limits. HTTP requests and gRPC streams
// share the same counts. The handler recognizes the Front's connection by the peer in the
// context: http.Server.ConnContext must set it to the connection's remote address.
func (f *Front) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := connOf(r.Context())
		c.prove()
		c.allow(bytesPerRequest)
		s, err := f.admit(r.Context(), c, r.URL.Path, r.Header.Values("X-Forwarded-For"))
		if err != nil {
			f.Answer(w, r, err)
			return
		}
		answer := &httpAnswer{ResponseWriter: w, call: s}
		defer answer.end()
		next.ServeHTTP(answer, r.WithContext(s))
	})
}

// httpAnswer writes the response to an HTTP request. The bytes passed to Write are counted
// until Write returns, that is, until the connection has accepted them.
type httpAnswer struct {
	http.ResponseWriter
	call    *call
	refused bool // set once the client has too many unread bytes; all further Writes fail
}

// end ends the request when its handler returns.
func (a *httpAnswer) end() {
	if a.call.conn.hijacker != nil {
		return
	}
	a.setDeadline() // The server has yet to flush its buffers.
	a.call.end()
	if a.refused {
		panic(http.ErrAbortHandler) // The client must not mistake the response for a complete one.
	}
}

// Write implements http.ResponseWriter.
func (a *httpAnswer) Write(p []byte) (int, error) {
	if a.refused {
		return 0, http.ErrAbortHandler
	}
	a.call.encoded()
	n := int64(len(p))
	defer a.call.conn.release(a.call.budget, n)
	if a.refused = !a.call.conn.hold(a.call.budget, n); a.refused {
		return 0, http.ErrAbortHandler
	}
	a.setDeadline()
	return a.ResponseWriter.Write(p)
}

// Flush implements http.Flusher.
func (a *httpAnswer) Flush() { _ = a.FlushError() }

// FlushError is the variant of Flush that http.ResponseController uses.
func (a *httpAnswer) FlushError() error {
	a.setDeadline()
	return http.NewResponseController(a.ResponseWriter).Flush()
}

// setDeadline limits how long the server waits for the client to read.
func (a *httpAnswer) setDeadline() {
	_ = a.call.conn.SetWriteDeadline(time.Now().Add(a.call.conn.front.Stall))
}

// Hijack implements http.Hijacker. The request is counted until the connection is closed.
func (a *httpAnswer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	raw, buffered, err := http.NewResponseController(a.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	c := a.call.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed.Load() {
		c.hijacker = a.call.budget // Retain only the budget: the call and its context would use a lot of memory.
	}
	return raw, buffered, nil
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (a *httpAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
