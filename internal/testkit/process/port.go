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

// given contains the ports that FreePort has returned.
var given sync.Map

// FreePort returns a port on 127.0.0.1 that nothing listens on. It never returns the same port
// twice within a test binary.
func FreePort(t testing.TB) int {
	t.Helper()
	for range 1000 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		_ = listener.Close()
		if _, taken := given.LoadOrStore(port, true); !taken {
			return port
		}
	}
	t.Fatal("found no free port")
	return 0
}
