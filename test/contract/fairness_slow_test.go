//go:build slow

package contract

import (
	"fmt"
	"testing"
	"time"

	connecttest "github.com/gridstand/gridstand/internal/testkit/connect"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
)

// TestFairness_Servers is like TestFairness but uses every protocol and two servers, which are
// restarted after each moment.
func TestFairness_Servers(t *testing.T) {
	t.Parallel()
	eachFairKind(t, (*fairness).runOnServers)
}

// runOnServers runs the test on two servers that use the same miniredis.
func (f *fairness) runOnServers() {
	redis := redistest.StartMiniredis(f.t)
	redis.SetTime(f.clock.now())
	f.clock.moved = func(d time.Duration) {
		redis.SetTime(f.clock.now())
		redis.FastForward(d)
	}
	var servers []*testServer
	restart := func() {
		for _, s := range servers {
			s.stop()
		}
		servers, f.doors = nil, nil
		for n := range 2 {
			f.s = start(f.t, "redis://"+redis.Addr(), f.configure)
			servers = append(servers, f.s)
			f.doors = append(f.doors, fairDoor{fmt.Sprintf("gRPC to server %d", n), f.s.conn, "http://" + f.s.addr.String()})
		}
		for _, protocol := range connecttest.Protocols() {
			f.doors = append(f.doors, fairDoor{protocol, connecttest.Dial(f.t, f.s.addr, protocol), ""})
		}
	}
	restart()
	f.run(restart)
}
