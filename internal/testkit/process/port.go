package process

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

// Ports are drawn from below the range that systems use for outgoing
// connections, usually from 32768, so that no connection takes one while its
// program is down. The bus of a node of a Redis Cluster takes port + 10000.
const firstPort, lastPort = 15000, 22000

// given are the ports that FreePort has returned.
var given sync.Map

// FreePort returns a port of 127.0.0.1 on which nothing listens, and which it
// returns only once in this test binary.
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
	t.Fatal("no free port")
	return 0
}
