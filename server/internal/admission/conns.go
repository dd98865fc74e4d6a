package admission

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/peer"

	"github.com/gridstand/gridstand/server/internal/ratelimit"
)

// conn is an accepted connection. It counts toward the limits until it is closed.
type conn struct {
	net.Conn
	control *Control
	from    *addressState
	// proxy is set if the connection belongs to a proxy. It carries the calls of many clients,
	// so it is not closed because of one of them.
	proxy       bool
	leave       func()
	handshaking atomic.Bool
	// dispatched is set when the connection is handed to the HTTP server.
	dispatched atomic.Bool
	ended      chan struct{} // closed when the connection is
	first      []byte        // bytes that peek has read and Read has not returned yet; used only by the reader
	penalty    atomic.Int64  // delay before the next read, in nanoseconds
	parsing    atomic.Int64  // bytes that count toward addressState.parsing
	began      bool          // set when the client has sent something; used only by the reader
	calls      int           // calls that gRPC has read and admit has not seen; used only by the reader
	// waits is len(waiting), which can be read without holding mu.
	waits atomic.Int64

	mu      sync.Mutex
	closed  bool
	ending  bool
	waiting set[*call] // streams without a request
	late    int64      // number of late streams in waiting
	answers set[*answer]
	unread  int64 // total size of the unread responses, in bytes
	// hijacker is the address for which a hijacked request is counted, or nil if the
	// connection was not hijacked.
	hijacker *addressState
}

// peerAddr is the remote address of a conn. gRPC includes it in the context of each call.
type peerAddr struct {
	net.Addr
	conn *conn
}

// connOf returns the connection of a call or request, or nil if it is not one of the
// Control's connections.
func connOf(ctx context.Context) *conn {
	if p, ok := peer.FromContext(ctx); ok {
		if addr, ok := p.Addr.(*peerAddr); ok {
			return addr.conn
		}
	}
	return nil
}

// AddrPort returns the address and port of a TCP address, and an invalid AddrPort for any
// other address.
func (a *peerAddr) AddrPort() netip.AddrPort {
	if tcp, ok := a.Addr.(*net.TCPAddr); ok {
		return tcp.AddrPort()
	}
	return netip.AddrPort{}
}

// Accept implements net.Listener. It closes connections that exceed a limit.
func (c *Control) Accept() (net.Conn, error) {
	conn, err := c.accept(c.Listener)
	if err != nil {
		return nil, err
	}
	return conn, nil
}

// accept returns the listener's next connection that does not exceed a limit, and closes
// those that do.
func (c *Control) accept(l net.Listener) (*conn, error) {
	for {
		accepted, err := l.Accept()
		if err != nil {
			return nil, err
		}
		conn, exceeded := c.enter(accepted)
		if exceeded == nil {
			return conn, nil
		}
		_ = accepted.Close()
		c.Closed(c.Limits.Name(exceeded), ratelimit.Key(accepted.RemoteAddr()))
	}
}

// enter counts the connection. If its address has too many open connections or opens them
// too fast, it returns the exceeded limit.
func (c *Control) enter(accepted net.Conn) (_ *conn, exceeded *int) {
	peer := accepted.RemoteAddr()
	key := ratelimit.Key(peer)
	proxy := c.Proxies.Trusted(peer)
	if !proxy && !c.pace.Take(key) {
		return nil, &c.Limits.NewConnectionsPerAddressPerSecond
	}
	from, _ := c.addresses.Enter(key, 0)
	if n := from.connections.Add(1); !proxy && exceeds(n, c.Limits.ConnectionsPerAddress) {
		from.connections.Add(-1)
		c.addresses.Leave(key)
		return nil, &c.Limits.ConnectionsPerAddress
	}
	conn := &conn{Conn: accepted, control: c, from: from, proxy: proxy, ended: make(chan struct{})}
	conn.leave = sync.OnceFunc(conn.left)
	conn.handshaking.Store(true)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conns[conn] = struct{}{}
	return conn, nil
}

// left removes the connection from all counts.
func (c *conn) left() {
	close(c.ended)
	c.parsed()
	c.mu.Lock()
	c.closed = true
	for _, a := range c.answers.all {
		a.release()
	}
	c.answers, c.unread = set[*answer]{}, 0
	waiting, hijacker := slices.Clone(c.waiting.all), c.hijacker
	c.mu.Unlock()
	for _, s := range waiting { // The requests of these streams can no longer arrive.
		c.charge(refusedBytes)
		s.end()
	}
	if hijacker != nil {
		c.release(hijacker)
	}
	control := c.control
	control.mu.Lock()
	delete(control.conns, c)
	control.mu.Unlock()
	c.from.connections.Add(-1)
	control.addresses.Leave(c.from.key)
}

// Read implements net.Conn. It first waits if streams of the connection were refused or
// canceled. Otherwise, a client that retries immediately would cost more than a client
// whose calls succeed.
func (c *conn) Read(b []byte) (int, error) {
	c.parsed()
	if c.penalty.Load() > 0 {
		select {
		case <-time.After(min(time.Duration(c.penalty.Swap(0)), maxPenalty)):
		case <-c.ended:
		}
	}
	if len(c.first) > 0 {
		n := copy(b, c.first)
		c.first = c.first[n:]
		return n, nil
	}
	n, err := c.Conn.Read(b[:min(len(b), maxInput)])
	if n == 0 { // net/http interrupts reads, and waits for them to return.
		return n, err
	}
	if !c.began && b[0] == tlsHandshake[0] {
		c.charge(handshakeBytes)
	}
	c.began = true
	if !c.awaitTurn(n) {
		return 0, net.ErrClosed
	}
	return n, err
}

// Write implements net.Conn. If it fails, it closes the connection: gRPC would first handle
// everything that the client had sent.
func (c *conn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if err != nil {
		_ = c.Close()
	}
	return n, err
}

// NetConn returns the wrapped connection, like tls.Conn.NetConn.
func (c *conn) NetConn() net.Conn { return c.Conn }

// slow delays the next read from the connection after a refused or canceled call.
func (c *conn) slow(by time.Duration) {
	if !c.proxy {
		c.penalty.Add(int64(by))
		c.charge(refusedBytes)
	}
}

// RemoteAddr implements net.Conn.
func (c *conn) RemoteAddr() net.Addr { return &peerAddr{c.Conn.RemoteAddr(), c} }

// SetDeadline implements net.Conn. gRPC sets a deadline for the handshake and removes it
// afterwards. The removal must not affect a deadline that the HTTP server has set through
// httpConn.
func (c *conn) SetDeadline(t time.Time) error {
	if c.dispatched.Load() {
		return nil
	}
	c.handshaking.Store(!t.IsZero())
	return c.Conn.SetDeadline(t)
}

// Close implements net.Conn.
func (c *conn) Close() error {
	err := c.Conn.Close()
	c.leave()
	return err
}

// CloseAfter closes a peer's connection after the given delay, unless the connection belongs
// to a proxy. Further calls have no effect.
func (c *Control) CloseAfter(peer net.Addr, after time.Duration) {
	p, ok := peer.(*peerAddr)
	if !ok || p.conn.proxy {
		return
	}
	p.conn.mu.Lock()
	defer p.conn.mu.Unlock()
	if !p.conn.ending {
		p.conn.ending = true
		// gRPC closes a connection when a read fails.
		_ = p.conn.SetReadDeadline(time.Now().Add(after))
		if p.conn.dispatched.Load() { // HTTP handlers may be blocked in a write.
			_ = p.conn.SetWriteDeadline(time.Now().Add(after))
		}
	}
}
