//go:build slow

package fault

import (
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// link is a network connection that can be made faulty: a proxy in front of a server or store.
type link struct {
	addr, upstream string
	trouble        [2]atomic.Pointer[trouble] // by direction
	group          sync.WaitGroup

	mu    sync.Mutex
	conns map[*net.TCPConn]bool
}

// The two directions of a link.
const (
	there = 0 // toward the server or store
	back  = 1 // from the server or store
)

// trouble is what is wrong with one direction of a link.
type trouble struct {
	delay, jitter time.Duration // wait before passing on bytes
	pieces        int           // pass on at most this many bytes at a time, if not 0
	limit         int           // close a connection after this many bytes, if not 0
	vanish        bool          // pass on nothing, but leave the connection open
	cut, reset    bool          // close, or reset, every connection
}

// newLink creates a link to an address. The link lasts until the test ends.
func newLink(t *testing.T, upstream string) *link {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := &link{addr: listener.Addr().String(), upstream: upstream, conns: map[*net.TCPConn]bool{}}
	for way := range l.trouble {
		l.trouble[way].Store(&trouble{})
	}
	l.group.Go(func() { l.accept(listener) })
	t.Cleanup(func() {
		_ = listener.Close()
		l.cut()
		l.group.Wait()
	})
	return l
}

// disturb makes one direction of the link faulty until heal is called. heal closes the connections if
// bytes have vanished from them.
func (l *link) disturb(way int, f trouble) (heal func()) {
	l.trouble[way].Store(&f)
	l.end(&f)
	return func() {
		l.trouble[way].Store(&trouble{})
		if f.vanish {
			l.end(&trouble{cut: true})
		}
	}
}

// cut closes the link's connections and new ones until healed.
func (l *link) cut() (heal func()) { return l.disturb(there, trouble{cut: true}) }

// end closes or resets the open connections if the trouble is of that kind.
func (l *link) end(f *trouble) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for conn := range l.conns {
		if f.reset {
			_ = conn.SetLinger(0)
		}
		if f.cut || f.reset {
			_ = conn.Close()
		}
	}
}

func (l *link) accept(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		upstream, err := net.Dial("tcp", l.upstream)
		if err != nil {
			_ = conn.Close()
			continue
		}
		client, server := conn.(*net.TCPConn), upstream.(*net.TCPConn)
		l.mu.Lock()
		l.conns[client], l.conns[server] = true, true
		l.mu.Unlock()
		l.group.Go(func() { l.pass(there, client, server) })
		l.group.Go(func() { l.pass(back, server, client) })
		for way := range l.trouble {
			l.end(l.trouble[way].Load())
		}
	}
}

// pass copies bytes in one direction until either connection is closed, and closes the other.
func (l *link) pass(way int, from, to *net.TCPConn) {
	defer func() {
		_ = from.Close()
		_ = to.Close()
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.conns, from)
	}()
	buffer, before, passed := make([]byte, 64<<10), (*trouble)(nil), 0
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		f := l.trouble[way].Load()
		if f != before {
			before, passed = f, 0
		}
		if f.vanish {
			continue
		}
		if f.limit > 0 {
			n = min(n, f.limit-passed)
		}
		passed += n
		if f.write(to, buffer[:n]) != nil || f.limit > 0 && passed == f.limit {
			return
		}
	}
}

// write writes the bytes late or in pieces.
func (f *trouble) write(to net.Conn, b []byte) error {
	if late := f.delay + rand.N(f.jitter+1); late > 1 {
		<-time.After(late)
	}
	for f.pieces > 0 && len(b) > f.pieces {
		if _, err := to.Write(b[:f.pieces]); err != nil {
			return err
		}
		b = b[f.pieces:]
		<-time.After(100 * time.Microsecond)
	}
	_, err := to.Write(b)
	return err
}
