package app

import (
	"net"
	"sync"

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

	mu   sync.Mutex
	open map[string]int // addresses that have any
	sum  int
}

func newListener(l net.Listener, limit int, proxies origin.Proxies, refused func()) *listener {
	return &listener{Listener: l, limit: limit, proxies: proxies, refused: refused, open: map[string]int{}}
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		peer := conn.RemoteAddr()
		address := origin.Key(peer)
		if l.enter(address, l.limit > 0 && !l.proxies.Trusted(peer)) {
			return &counted{Conn: conn, leave: sync.OnceFunc(func() { l.leave(address) })}, nil
		}
		_ = conn.Close()
		l.refused()
	}
}

func (l *listener) enter(address string, limited bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if limited && l.open[address] >= l.limit {
		return false
	}
	l.open[address]++
	l.sum++
	return true
}

func (l *listener) leave(address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sum--
	if l.open[address]--; l.open[address] == 0 {
		delete(l.open, address)
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
