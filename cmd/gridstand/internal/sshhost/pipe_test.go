package sshhost

import (
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	gossh "golang.org/x/crypto/ssh"
)

// queue is a connection whose writes do not wait for the reader.
type queue struct {
	net.Conn
	out    chan []byte
	closed chan struct{}
	close  sync.Once
}

func newQueue(conn net.Conn) *queue {
	q := &queue{Conn: conn, out: make(chan []byte, 1000), closed: make(chan struct{})}
	go func() {
		for {
			select {
			case b := <-q.out:
				_, _ = conn.Write(b)
			case <-q.closed:
				return
			}
		}
	}()
	return q
}

func (q *queue) Write(b []byte) (int, error) {
	select {
	case q.out <- slices.Clone(b):
		return len(b), nil
	case <-q.closed:
		return 0, net.ErrClosed
	}
}

func (q *queue) Close() error {
	q.close.Do(func() { close(q.closed) })
	return q.Conn.Close()
}

// pipeListener is a listener whose connections are pipes.
type pipeListener struct {
	net.Listener
	conns  chan net.Conn
	closed chan struct{}
	close  sync.Once
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Addr() net.Addr { return remoteAddr("192.0.2.1") }

func (l *pipeListener) Close() error {
	l.close.Do(func() { close(l.closed) })
	return nil
}

// pipedHost is a host whose connections are pipes, for tests in a synctest bubble.
type pipedHost struct {
	*testHost
	conns chan<- net.Conn
}

// startPiped is like start, but for pipes.
func startPiped(t *testing.T, serve serve, change ...func(*Config)) *pipedHost {
	t.Helper()
	listener := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	return &pipedHost{startOn(t, listener, serve, change...), listener.conns}
}

// addressed is a connection from an address.
type addressed struct {
	net.Conn
	from net.Addr
}

func (a addressed) RemoteAddr() net.Addr { return a.from }

// remoteAddr returns a client's address.
func remoteAddr(ip string) net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(ip), 50_000))
}

// connect returns a new connection from an address.
func (h *pipedHost) connect(from string) net.Conn {
	near, far := net.Pipe()
	h.conns <- addressed{near, remoteAddr(from)}
	return far
}

// dialFrom connects as a guest, whose configuration the test can change.
func (h *pipedHost) dialFrom(address string, change ...func(*gossh.ClientConfig)) (*gossh.Client, *queue) {
	h.t.Helper()
	config := &gossh.ClientConfig{User: "ada", Auth: []gossh.AuthMethod{guest()}, HostKeyCallback: gossh.FixedHostKey(h.key.PublicKey())}
	for _, c := range change {
		c(config)
	}
	conn := newQueue(h.connect(address))
	c, channels, requests, err := gossh.NewClientConn(conn, "", config)
	require.NoError(h.t, err)
	client := gossh.NewClient(c, channels, requests)
	h.t.Cleanup(func() { _ = client.Close() })
	return client, conn
}

func (h *pipedHost) dial() (*gossh.Client, *queue) { return h.dialFrom("192.0.2.1") }
