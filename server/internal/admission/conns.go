package admission

import (
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gridstand/gridstand/server/internal/ratelimit"
)

// conn is a connection that counts until it is closed.
type conn struct {
	net.Conn
	control *Control
	from    *addressState
	// proxy says that the connection carries the calls of many clients, so that it is
	// not closed because of one of them.
	proxy       bool
	leave       func()
	handshaking atomic.Bool
	// dispatched says that the connection was passed to HTTP.
	dispatched atomic.Bool
	first      []byte       // bytes that peek read and Read has not returned; for the reader alone
	penalty    atomic.Int64 // delay of the next read, in nanoseconds
	// waits is the length of waiting.
	waits atomic.Int64

	mu      sync.Mutex
	closed  bool
	ending  bool
	waiting set[*call] // streams without a request
	late    int64      // how many of them are late
	answers set[*answer]
	unread  int64 // size of answers
	// hijacker is the address that counts the request whose handler took the connection
	// over, nil if none did.
	hijacker *addressState
}

// peerAddr is the remote address of a conn. gRPC passes it on with each call.
type peerAddr struct {
	net.Addr
	conn *conn
}

// AddrPort is that of a TCP address, and invalid for any other.
func (a *peerAddr) AddrPort() netip.AddrPort {
	if tcp, ok := a.Addr.(*net.TCPAddr); ok {
		return tcp.AddrPort()
	}
	return netip.AddrPort{}
}

// Accept implements net.Listener. Connections over the limit are closed.
func (c *Control) Accept() (net.Conn, error) {
	conn, err := c.accept(c.Listener)
	if err != nil {
		return nil, err
	}
	return conn, nil
}

// accept returns the next connection of a listener that is not over a limit.
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

// enter counts a connection. If its address has or opens too many, it returns the
// limit that is exceeded.
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
	conn := &conn{Conn: accepted, control: c, from: from, proxy: proxy}
	conn.leave = sync.OnceFunc(conn.left)
	conn.handshaking.Store(true)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conns[conn] = struct{}{}
	return conn, nil
}

// left takes the connection off all counts.
func (c *conn) left() {
	c.mu.Lock()
	c.closed = true
	for _, a := range c.answers.all {
		a.from.held.Add(-a.size)
	}
	c.answers, c.unread = set[*answer]{}, 0
	waiting, hijacker := slices.Clone(c.waiting.all), c.hijacker
	c.mu.Unlock()
	for _, s := range waiting { // Their requests cannot arrive.
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

// Read implements net.Conn. It waits if streams of the connection were refused or
// cancelled: a client that repeats them at once would cost more than one that is
// answered.
func (c *conn) Read(b []byte) (int, error) {
	if c.penalty.Load() > 0 {
		<-time.After(min(time.Duration(c.penalty.Swap(0)), maxPenalty))
	}
	if len(c.first) > 0 {
		n := copy(b, c.first)
		c.first = c.first[n:]
		return n, nil
	}
	return c.Conn.Read(b)
}

// NetConn returns the connection within, like that of tls.Conn.
func (c *conn) NetConn() net.Conn { return c.Conn }

// slow delays the next read of the connection.
func (c *conn) slow(by time.Duration) {
	if !c.proxy {
		c.penalty.Add(int64(by))
	}
}

// RemoteAddr implements net.Conn.
func (c *conn) RemoteAddr() net.Addr { return &peerAddr{c.Conn.RemoteAddr(), c} }

// SetDeadline implements net.Conn. gRPC sets a deadline for the handshake and removes
// it afterwards, which must not remove one that HTTP has set on its httpConn.
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

// HangUp closes a peer's connection after some time, unless it is a proxy's. Calling it
// again does not extend that time.
func (c *Control) HangUp(peer net.Addr, after time.Duration) {
	p, ok := peer.(*peerAddr)
	if !ok || p.conn.proxy {
		return
	}
	p.conn.mu.Lock()
	defer p.conn.mu.Unlock()
	if !p.conn.ending {
		p.conn.ending = true
		// gRPC closes a connection that it cannot read from.
		_ = p.conn.SetReadDeadline(time.Now().Add(after))
		if p.conn.dispatched.Load() { // Handlers of HTTP wait until they have written.
			_ = p.conn.SetWriteDeadline(time.Now().Add(after))
		}
	}
}
