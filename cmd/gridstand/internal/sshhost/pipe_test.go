package sshhost

import (
	"net"
	"net/netip"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/test/bufconn"
)

// pipeListener is a listener for pipes. It receives the address of each client after Accept.
type pipeListener struct {
	*bufconn.Listener
	from chan net.Addr
}

func (l *pipeListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return addressed{conn, <-l.from}, nil
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
func (h *testHost) connect(from string) net.Conn {
	h.t.Helper()
	conn, err := h.listener.Dial()
	require.NoError(h.t, err)
	select {
	case h.listener.from <- remoteAddr(from):
	case <-time.After(limit):
		require.Fail(h.t, "the host accepts no connection")
	}
	return conn
}
