package front

import (
	"context"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/peer"

	"github.com/gridstand/gridstand/server/limits"
)

// conn is an accepted connection. It counts toward the limits until it is closed.
type conn struct {
	net.Conn
	front  *Front
	budget *Budget
	// proxy is set if the connection belongs to a proxy. It carries the calls of many clients,
	// so it is not closed because of one of them.
	proxy bool
	// dispatched is set when the connection is handed to the HTTP server, and proven when the client has
	// completed a handshake or a request.
	dispatched, proven atomic.Bool

	first  []byte       // bytes that the handshake has read and Read has not returned yet; used only by the reader
	unpaid atomic.Int64 // number of bytes that the budget has not been charged for

	mu     sync.Mutex
	closed atomic.Bool       // set with mu held
	unread map[*Budget]int64 // bytes of responses that the client has not read
	// hijacker is the budget that counts a hijacked request, or nil.
	hijacker *Budget
}

// peerAddr is the remote address of a conn. gRPC includes it in the context of each call.
type peerAddr struct {
	*net.TCPAddr // nil if the connection is not of TCP, which is a valid address without an IP address
	conn         *conn
}

// connOf returns the connection of a call or request.
func connOf(ctx context.Context) *conn {
	p, _ := peer.FromContext(ctx)
	return p.Addr.(*peerAddr).conn
}

// Accept implements net.Listener. It closes connections that exceed a limit.
func (f *Front) Accept() (net.Conn, error) {
	for {
		accepted, err := f.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c, exceeded := f.enter(accepted)
		if exceeded == "" {
			return c, nil
		}
		_ = accepted.Close()
		f.Closed(exceeded, Key(accepted.RemoteAddr()))
		runtime.Gosched() // Moves do not wait for the next ones, of which a flood has many.
	}
}

// Read implements net.Conn. It charges for what a client sends beside calls, such as TLS handshakes,
// pings of HTTP/2, and requests that gRPC refuses before it calls tap.
func (c *conn) Read(b []byte) (int, error) {
	if len(c.first) > 0 {
		n := copy(b, c.first)
		c.first = c.first[n:]
		return n, nil
	}
	n, err := c.Conn.Read(b)
	if n == 0 || c.proxy {
		return n, err
	}
	if reads := c.unpaid.Add(int64(n)) / bytesPerRead; reads > 0 {
		c.unpaid.Add(-reads * bytesPerRead)
		if !c.budget.charge(int(reads)) {
			c.refused()
		}
	}
	return n, err
}

// allow lets the client send n bytes that are part of a call. Bytes that it did not send for earlier
// calls do not add up.
func (c *conn) allow(n int64) {
	if c.unpaid.Add(-n) < -n {
		c.unpaid.Store(-n)
	}
}

// refused closes the connection if its address was refused too often. A proxy's connection stays open.
func (c *conn) refused() {
	if c.proxy || c.closed.Load() || c.budget.refusals.Allow() {
		return
	}
	_ = c.Close()
	c.front.Closed(limits.ReadsPerAddressPerSecond.String(), c.budget.address)
}

// NetConn returns the wrapped connection, like tls.Conn.NetConn.
func (c *conn) NetConn() net.Conn { return c.Conn }

// RemoteAddr implements net.Conn.
func (c *conn) RemoteAddr() net.Addr {
	tcp, _ := c.Conn.RemoteAddr().(*net.TCPAddr)
	return &peerAddr{tcp, c}
}

// SetDeadline implements net.Conn. gRPC sets a deadline for the handshake and removes it
// afterwards. The removal must not affect a deadline that the HTTP server has set through
// httpConn.
func (c *conn) SetDeadline(t time.Time) error {
	if c.dispatched.Load() {
		return nil
	}
	if t.IsZero() {
		c.prove()
	}
	return c.Conn.SetDeadline(t)
}

// Close implements net.Conn.
func (c *conn) Close() error {
	err := c.Conn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed.Swap(true) {
		return err
	}
	for b, n := range c.unread {
		b.unread.Add(-n)
	}
	if c.hijacker != nil {
		c.hijacker.calls.Add(-1)
	}
	c.budget.connections.Add(-1)
	c.front.mu.Lock()
	defer c.front.mu.Unlock()
	delete(c.front.conns, c)
	c.budget.forget(c)
	return err
}
