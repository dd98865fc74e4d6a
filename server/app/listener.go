package app

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/gridstand/gridstand/server/origin"
)

// listener accepts so many connections of one address at once, and closes what
// is more. Proxies, which connect for many, may have any number.
type listener struct {
	net.Listener
	limit   int // 0 for none
	proxies origin.Proxies
	// refused is called for each connection that is closed at once.
	refused func()

	mu    sync.Mutex
	open  map[string]int // addresses that have any
	sum   int
	peers map[netip.AddrPort]*counted // those over TCP
}

func newListener(l net.Listener, limit int, proxies origin.Proxies, refused func()) *listener {
	return &listener{
		Listener: l, limit: limit, proxies: proxies, refused: refused,
		open: map[string]int{}, peers: map[netip.AddrPort]*counted{},
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
	limited := l.limit > 0 && !l.proxies.Trusted(peer)
	l.mu.Lock()
	defer l.mu.Unlock()
	if limited && l.open[address] >= l.limit {
		return nil
	}
	c := &counted{Conn: conn}
	c.leave = sync.OnceFunc(func() { l.leave(c, address) })
	l.open[address]++
	l.sum++
	if tcp, ok := peer.(*net.TCPAddr); ok {
		l.peers[tcp.AddrPort()] = c
	}
	return c
}

func (l *listener) leave(c *counted, address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sum--
	if l.open[address]--; l.open[address] == 0 {
		delete(l.open, address)
	}
	if tcp, ok := c.RemoteAddr().(*net.TCPAddr); ok && l.peers[tcp.AddrPort()] == c {
		delete(l.peers, tcp.AddrPort())
	}
}

// hangUp ends a connection after some time. That of a proxy stays: it is that of
// many, and the proxy knows better which of them to send away.
func (l *listener) hangUp(peer net.Addr, after time.Duration) {
	tcp, ok := peer.(*net.TCPAddr)
	if !ok || l.proxies.Trusted(peer) {
		return
	}
	l.mu.Lock()
	c := l.peers[tcp.AddrPort()]
	l.mu.Unlock()
	if c != nil {
		// gRPC closes a connection that it cannot read from.
		_ = c.SetReadDeadline(time.Now().Add(after))
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
	leave func()
}

// Close implements net.Conn.
func (c *counted) Close() error {
	c.leave()
	return c.Conn.Close()
}
