// Package front limits what one address can do to a server: connections, calls and watches, the rate of
// calls by what they cost, and unread bytes. It refuses a call before gRPC starts a goroutine for it, and
// closes the connections of clients that continue.
package front

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gridstand/gridstand/internal/periodic"
	"github.com/gridstand/gridstand/server/limits"
)

// Config configures a Front. All fields are required.
type Config struct {
	*Budgets
	// Refuse returns the error with the status to send for an exceeded limit. Answer
	// responds to an HTTP request with such an error.
	Refuse func(*limits.ExceededError) error
	Answer func(http.ResponseWriter, *http.Request, error)
	// Stall is the maximum time that a client may take to read part of an HTTP response.
	Stall time.Duration
	// Stopping is the error that calls get while the server is stopping.
	Stopping error
	// Closed is called for each connection that is closed because of a limit, and Refused for each
	// call that is refused, with the name of the limit and the client's address.
	Closed, Refused func(limit, address string)
}

// Front decides which connections and calls a server accepts. It is the listener of the gRPC
// server, which must be created with its Options and Credentials. An HTTP server serves Handler
// on the HTTP connections.
type Front struct {
	net.Listener
	Config
	http *httpListener

	mu    sync.Mutex
	conns map[*conn]struct{}

	stopping atomic.Bool
	running  atomic.Int64
}

// New returns a Front for the listener's connections. The caller must call Run.
func New(l net.Listener, c Config) *Front {
	return &Front{Listener: l, Config: c, http: newHTTPListener(l), conns: map[*conn]struct{}{}}
}

// sweepEvery is how often the budgets of addresses that have left are forgotten.
const sweepEvery = time.Second

// Run forgets the budgets of addresses that have left, until ctx is done.
func (f *Front) Run(ctx context.Context) { periodic.Run(ctx, sweepEvery, f.sweep) }

// Connections returns the number of open connections.
func (f *Front) Connections() int { return len(f.all()) }

// Clients estimates the number of connected programs and browsers: each gRPC connection is
// a program, and an address with HTTP connections is a browser.
func (f *Front) Clients() int {
	programs, browsers := 0, map[*Budget]bool{}
	for _, c := range f.all() {
		switch {
		case c.dispatched.Load():
			browsers[c.budget] = true
		case c.proven.Load():
			programs++
		}
	}
	return programs + len(browsers)
}

// Open returns the number of open streams, calls and HTTP requests. A request is open until its handler
// returns or, if that has hijacked the connection, until the connection is closed.
func (f *Front) Open() (n int) {
	f.Budgets.mu.Lock()
	defer f.Budgets.mu.Unlock()
	for _, b := range f.Budgets.all {
		n += int(b.calls.Load())
	}
	return n
}

// Running returns the number of unary calls whose request has arrived and which the server has not
// answered yet.
func (f *Front) Running() int { return int(f.running.Load()) }

// Close implements net.Listener.
func (f *Front) Close() error {
	_ = f.http.Close()
	return f.Listener.Close()
}

// Stop refuses new calls and requests. It also closes connections that have proven nothing yet, because
// gRPC would wait for them.
func (f *Front) Stop() {
	f.stopping.Store(true)
	for _, c := range f.all() {
		if !c.proven.Load() {
			_ = c.Close()
		}
	}
}

// CloseAll closes every connection together with its calls.
func (f *Front) CloseAll() {
	for _, c := range f.all() {
		_ = c.Close()
	}
}

func (f *Front) all() []*conn {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make([]*conn, 0, len(f.conns))
	for c := range f.conns {
		all = append(all, c)
	}
	return all
}

// refusal reports that an address exceeds a limit of calls, and returns an error with the status to send.
func (f *Front) refusal(e *limits.ExceededError, address string) error {
	f.Refused(e.Field, address)
	return f.Refuse(e)
}

// buffer is the size in bytes of each of the kernel's buffers for a client. By itself, Linux would let the send
// buffer grow to 4 MB if the client does not read, and fill 128 kB if it sends what a watch never reads.
const buffer = 32 << 10

// enter counts the connection. It returns the name of the exceeded limit if the connection must be closed.
func (f *Front) enter(accepted net.Conn) (_ *conn, exceeded string) {
	peer := accepted.RemoteAddr()
	b := f.Budgets.Of(Key(peer))
	proxy := f.Proxies.Trusted(peer)
	n := b.connections.Add(1)
	switch {
	case proxy:
	case exceeds(n, f.Limits[limits.ConnectionsPerAddress]) && !f.makeRoom(b):
		exceeded = limits.ConnectionsPerAddress.String()
	case !b.take(1):
		exceeded = limits.ReadsPerAddressPerSecond.String()
	}
	if exceeded != "" {
		b.connections.Add(-1)
		return nil, exceeded
	}
	if tcp, ok := accepted.(*net.TCPConn); ok && !proxy {
		_ = tcp.SetReadBuffer(buffer)
		_ = tcp.SetWriteBuffer(buffer)
	}
	c := &conn{Conn: accepted, front: f, budget: b, proxy: proxy, unread: map[*Budget]int64{}}
	f.mu.Lock()
	f.conns[c] = struct{}{}
	if !c.proxy {
		b.unproven = append(b.unproven, c)
	}
	f.mu.Unlock()
	return c, ""
}

// makeRoom closes the oldest connection of an address that has proven nothing, or returns false if there
// is none.
func (f *Front) makeRoom(b *Budget) bool {
	f.mu.Lock()
	if len(b.unproven) == 0 {
		f.mu.Unlock()
		return false
	}
	oldest := b.unproven[0]
	f.mu.Unlock()
	_ = oldest.Close()
	f.Closed(limits.ConnectionsPerAddress.String(), b.address)
	return true
}

// prove records that the client has completed its handshake or a request.
func (c *conn) prove() {
	if c.proven.Swap(true) {
		return
	}
	c.front.mu.Lock()
	defer c.front.mu.Unlock()
	c.budget.forget(c)
}

// forget removes a connection from those that have proven nothing. The caller holds Front.mu.
func (b *Budget) forget(c *conn) {
	if i := slices.Index(b.unproven, c); i >= 0 {
		b.unproven = slices.Delete(b.unproven, i, i+1)
	}
}
