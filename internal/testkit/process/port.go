package process

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

// Ports are drawn from below the ephemeral range, which usually begins at 32768, so that no
// outgoing connection takes a port while its program is down. The bus of a Redis Cluster node uses
// port + 10000.
const firstPort, lastPort = 15000, 22000

// reserved contains the UDP sockets that reserve the ports that FreePort has returned. They stay
// open until the test binary ends.
var reserved struct {
	sync.Mutex
	sockets []net.PacketConn
}

// FreePort returns a TCP port on 127.0.0.1 that nothing listens on. No other call returns the same
// port while this test binary runs, not even in another test binary: FreePort reserves the UDP port
// of the same number.
func FreePort(t testing.TB) string {
	t.Helper()
	for range 1000 {
		port := strconv.Itoa(firstPort + rand.IntN(lastPort-firstPort))
		address := net.JoinHostPort("127.0.0.1", port)
		socket, err := net.ListenPacket("udp", address)
		if err != nil {
			continue
		}
		// Do not listen on the port to find out: a program that another test starts at this moment
		// would inherit the listener, and keep the port in use for some milliseconds.
		if conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address); err == nil {
			_, _ = conn.Close(), socket.Close()
			continue
		}
		reserved.Lock()
		defer reserved.Unlock()
		reserved.sockets = append(reserved.sockets, socket)
		return port
	}
	t.Fatal("found no free port")
	return ""
}

// FreeAddress returns the address 127.0.0.1 with a port that FreePort returned.
func FreeAddress(t testing.TB) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", FreePort(t))
}
