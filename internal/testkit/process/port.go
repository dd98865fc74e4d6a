package process

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Ports are drawn from below the ephemeral range, which usually begins at 32768, so that no
// outgoing connection takes a port while its program is down. The bus of a Redis Cluster node uses
// the port that is toBus higher.
const firstPort, lastPort, toBus = 15000, 22000, 10000

// FreePort returns a TCP port on 127.0.0.1 on which, and on whose bus, nothing listens. No other call
// returns the same port until the test ends, not even in another test binary: FreePort reserves the UDP
// port of the same number.
func FreePort(t testing.TB) string {
	t.Helper()
	for range 1000 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		socket, err := net.ListenPacket("udp", local(port))
		if err != nil {
			continue
		}
		if answers(t, port) || answers(t, port+toBus) {
			_ = socket.Close()
			continue
		}
		t.Cleanup(func() { _ = socket.Close() })
		return strconv.Itoa(port)
	}
	t.Fatal("found no free port")
	return ""
}

func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// answers reports whether a program listens on a port. It does not listen to find out: a program that
// another test starts at this moment would inherit the listener, and keep the port in use for some
// milliseconds.
func answers(t testing.TB, port int) bool {
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", local(port))
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// Listen returns a listener on a free port of 127.0.0.1. It is closed when the test ends.
func Listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// FreeAddress returns the address 127.0.0.1 with a port that FreePort returned.
func FreeAddress(t testing.TB) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", FreePort(t))
}
