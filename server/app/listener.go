package app

import (
	"math"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/gridstand/gridstand/server/origin"
	"github.com/gridstand/gridstand/server/quota"
)

// listener accepts so many connections of one address at once, and so many in a
// second, and closes what is more. Proxies, which connect for many, may have any
// number.
type listener struct {
	net.Listener
	limit   int // 0 for none
	pace    *quota.Pacer
	proxies origin.Proxies
	// refused is called for each connection that is closed for what its client
	// does.
	refused func()

	mu     sync.Mutex
	places map[string]*place // addresses that have any
	sum    int
	// peers are the connections over TCP, but for those of proxies.
	peers map[netip.AddrPort]*counted
}

// place is an address that has connections.
type place struct {
	connections int // guarded by the listener's mu
	// unread is what all of them did not take yet of answers, in bytes.
	unread atomic.Int64
}

// What clients may leave unread of answers: gRPC keeps everything that it was
// given until the client takes it. One connection may leave so much, and those
// of one address together, beyond which each of them may leave only a little.
const (
	maxUnread        = 8 << 20
	maxUnreadAddress = 128 << 20
	littleUnread     = 128 << 10
)

func newListener(l net.Listener, limit, perSecond int, proxies origin.Proxies, refused func()) *listener {
	return &listener{
		Listener: l, limit: limit, proxies: proxies, refused: refused,
		pace:   quota.NewPacer(rate.Limit(perSecond), quota.Burst*perSecond),
		places: map[string]*place{}, peers: map[netip.AddrPort]*counted{},
	}
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c := l.enter(conn); c != nil {
			return c, nil
		}
		_ = conn.Close()
		l.refused()
	}
}

// enter counts a connection; nil for one that is too many.
func (l *listener) enter(conn net.Conn) *counted {
	peer := conn.RemoteAddr()
	address := origin.Key(peer)
	trusted := l.proxies.Trusted(peer)
	if !trusted && !l.pace.Take(address) {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	here := l.places[address]
	if here == nil {
		here = &place{}
		l.places[address] = here
	}
	if !trusted && l.limit > 0 && here.connections >= l.limit {
		return nil
	}
	c := &counted{Conn: conn, place: here}
	c.leave = sync.OnceFunc(func() { l.leave(c, address) })
	here.connections++
	l.sum++
	if tcp, ok := peer.(*net.TCPAddr); ok && !trusted {
		l.peers[tcp.AddrPort()] = c
	}
	return c
}

func (l *listener) leave(c *counted, address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sum--
	if c.place.connections--; c.place.connections == 0 {
		delete(l.places, address)
	}
	if tcp, ok := c.RemoteAddr().(*net.TCPAddr); ok && l.peers[tcp.AddrPort()] == c {
		delete(l.peers, tcp.AddrPort())
	}
	c.took(math.MaxInt64)
}

// of is the connection of a peer; nil for one that is gone, and for that of a
// proxy: it is that of many, and the proxy knows better whom of them to send
// away. It is asked under mu.
func (l *listener) of(peer net.Addr) *counted {
	tcp, ok := peer.(*net.TCPAddr)
	if !ok {
		return nil
	}
	return l.peers[tcp.AddrPort()]
}

// hangUp ends a connection after some time. One that is to end already ends no
// later for it.
func (l *listener) hangUp(peer net.Addr, after time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.of(peer); c != nil && !c.ending {
		c.ending = true
		// gRPC closes a connection that it cannot read from.
		_ = c.SetReadDeadline(time.Now().Add(after))
	}
}

// answered says that gRPC is given an answer of so many bytes for a connection.
// One that leaves too much unread is closed.
func (l *listener) answered(peer net.Addr, size int) {
	l.mu.Lock() // so that none is counted once the connection has left
	c := l.of(peer)
	var unread, together int64
	if c != nil {
		unread, together = c.unread.Add(int64(size)), c.place.unread.Add(int64(size))
	}
	l.mu.Unlock()
	if unread > maxUnread || together > maxUnreadAddress && unread > littleUnread {
		_ = c.Close()
		l.refused()
	}
}

// connections is how many there are.
func (l *listener) connections() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sum
}

// counted is a connection that makes room for another when it is closed.
type counted struct {
	net.Conn
	place  *place
	leave  func()
	ending bool // guarded by the listener's mu
	// unread is about how much of answers the client did not take yet, rather
	// too little than too much: what was written is not all of answers.
	unread atomic.Int64
}

// Write implements net.Conn.
func (c *counted) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.took(int64(n))
	return n, err
}

func (c *counted) took(n int64) {
	for unread := c.unread.Load(); unread > 0; unread = c.unread.Load() {
		taken := min(n, unread)
		if c.unread.CompareAndSwap(unread, unread-taken) {
			c.place.unread.Add(-taken)
			return
		}
	}
}

// Close implements net.Conn.
func (c *counted) Close() error {
	c.leave()
	return c.Conn.Close()
}
