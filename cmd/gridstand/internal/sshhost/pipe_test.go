package sshhost

import (
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	gossh "golang.org/x/crypto/ssh"
	"google.golang.org/grpc/test/bufconn"
)

// pipedHost is a host whose connections are pipes in memory, for tests in a synctest bubble.
type pipedHost struct {
	*testHost
	listener *pipeListener
}

// startPiped is like start, but for pipes.
func startPiped(t *testing.T, serve serve, change ...func(*Config)) *pipedHost {
	t.Helper()
	listener := &pipeListener{bufconn.Listen(1 << 14), make(chan net.Addr)}
	return &pipedHost{startOn(t, listener, serve, change...), listener}
}

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
func (h *pipedHost) connect(from string) net.Conn {
	h.t.Helper()
	conn, err := h.listener.Dial()
	require.NoError(h.t, err)
	h.listener.from <- remoteAddr(from)
	return conn
}

// dialFrom connects as a guest, whose configuration the test can change.
func (h *pipedHost) dialFrom(address string, change ...func(*gossh.ClientConfig)) *gossh.Client {
	h.t.Helper()
	config := &gossh.ClientConfig{User: "ada", Auth: []gossh.AuthMethod{guest()}, HostKeyCallback: gossh.FixedHostKey(h.key.PublicKey())}
	for _, c := range change {
		c(config)
	}
	c, channels, requests, err := gossh.NewClientConn(h.connect(address), "", config)
	require.NoError(h.t, err)
	client := gossh.NewClient(c, channels, requests)
	h.t.Cleanup(func() { _ = client.Close() })
	return client
}

func (h *pipedHost) dial() *gossh.Client { return h.dialFrom("192.0.2.1") }
