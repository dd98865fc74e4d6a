//go:build slow

package fault

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
)

// faultLocation is where a fault occurs. Two faults at the same location are not injected
// together.
type faultLocation int

const (
	inStore  faultLocation = iota
	toRedis                // between a server and Redis
	inServer               // in a server's process
	toServer               // between a server and its clients
)

// The two directions of a proxy, and what is wrong with one.
const (
	there = redistest.ToServer
	back  = redistest.ToClient
)

type trouble = redistest.Trouble

type fault struct {
	name     string
	location faultLocation
	// inject starts the fault. If the fault affects a server, it affects the given one. inject
	// draws all its random numbers before it returns. The returned function ends the fault.
	inject func(s *storm, h *stormServer, rng *rand.Rand) (heal func())
}

// redisFaults lists the faults that affect Redis or its connection to a server.
var redisFaults = []fault{
	{"redis is killed", inStore, func(s *storm, _ *stormServer, _ *rand.Rand) func() {
		s.redis.Kill()
		return s.redis.Restart
	}},
	{"redis is paused (SIGSTOP)", inStore, func(s *storm, _ *stormServer, _ *rand.Rand) func() {
		s.redis.Pause()
		return s.redis.Resume
	}},
	{"redis is out of memory", inStore, setting("maxmemory", "1", "0")},
	{"redis refuses writes (min-replicas)", inStore, setting("min-replicas-to-write", "1", "0")},
	{"redis is a replica, read-only", inStore, func(s *storm, _ *stormServer, _ *rand.Rand) func() {
		require.NoError(s.t, s.env.redis.Do(s.t.Context(), "REPLICAOF", "127.0.0.1", "1").Err())
		return func() { require.NoError(s.t, s.env.redis.Do(s.t.Context(), "REPLICAOF", "NO", "ONE").Err()) }
	}},
	{"redis forgets its scripts", inStore, func(s *storm, _ *stormServer, _ *rand.Rand) func() {
		require.NoError(s.t, s.env.redis.ScriptFlush(s.t.Context()).Err())
		return func() {}
	}},
	{"redis is slow (latency and jitter)", toRedis, func(_ *storm, h *stormServer, rng *rand.Rand) func() {
		slow := trouble{Delay: milliseconds(rng, 200), Jitter: milliseconds(rng, 100)}
		return both(h.toRedis.Disturb(there, slow), h.toRedis.Disturb(back, slow))
	}},
	{"redis replies arrive in tiny pieces", toRedis, func(_ *storm, h *stormServer, rng *rand.Rand) func() {
		return h.toRedis.Disturb(back, trouble{Pieces: 1 + rng.IntN(10)})
	}},
	{"half of a reply from redis arrives", toRedis, func(_ *storm, h *stormServer, rng *rand.Rand) func() {
		return h.toRedis.Disturb(back, trouble{Limit: 1 + rng.IntN(300)})
	}},
	{"half of a command reaches redis", toRedis, func(_ *storm, h *stormServer, rng *rand.Rand) func() {
		return h.toRedis.Disturb(there, trouble{Limit: 1 + rng.IntN(300)})
	}},
	{"the connection to redis is cut", toRedis, func(_ *storm, h *stormServer, _ *rand.Rand) func() {
		return h.toRedis.Disturb(there, trouble{Cut: true})
	}},
	{"the connection to redis is reset", toRedis, func(_ *storm, h *stormServer, _ *rand.Rand) func() {
		return h.toRedis.Disturb(back, trouble{Reset: true})
	}},
	{"commands to redis vanish (half open)", toRedis, func(_ *storm, h *stormServer, _ *rand.Rand) func() {
		return h.toRedis.Disturb(there, trouble{Vanish: true})
	}},
	{"replies from redis vanish (half open)", toRedis, func(_ *storm, h *stormServer, _ *rand.Rand) func() {
		return h.toRedis.Disturb(back, trouble{Vanish: true})
	}},
}

// fileFaults lists the faults of a file, which only one server has open.
var fileFaults = []fault{
	{"nothing more can be written to the file", inServer, func(s *storm, h *stormServer, rng *rand.Rand) func() {
		info, err := os.Stat(s.env.path() + "-wal")
		require.NoError(s.t, err)
		limit := func(size string) error {
			return exec.Command("prlimit", "--pid", strconv.Itoa(h.server.process.Pid()), "--fsize="+size+":").Run()
		}
		if limit(strconv.FormatInt(info.Size()+rng.Int64N(20_000), 10)) != nil {
			s.t.Log("prlimit is not available")
			return func() {}
		}
		return func() { require.NoError(s.t, limit("unlimited")) }
	}},
}

// serverFaults lists the faults of servers and of their connections to clients.
var serverFaults = []fault{
	{"a server is killed", inServer, func(_ *storm, h *stormServer, _ *rand.Rand) func() {
		h.server.stop()
		return h.server.restart
	}},
	{"a server is stopped (SIGTERM)", inServer, func(s *storm, h *stormServer, _ *rand.Rand) func() {
		process, err := os.FindProcess(h.server.process.Pid())
		require.NoError(s.t, err)
		require.NoError(s.t, process.Signal(syscall.SIGTERM))
		return h.server.restart
	}},
	{"a server is paused (SIGSTOP)", inServer, func(s *storm, h *stormServer, _ *rand.Rand) func() {
		require.NoError(s.t, h.server.process.Pause())
		return func() { require.NoError(s.t, h.server.process.Resume()) }
	}},
	{"a server is slow to reach (latency and jitter)", toServer, func(_ *storm, h *stormServer, rng *rand.Rand) func() {
		slow := trouble{Delay: milliseconds(rng, 300), Jitter: milliseconds(rng, 100)}
		return both(h.toClients.Disturb(there, slow), h.toClients.Disturb(back, slow))
	}},
	{"the connection to a server is cut", toServer, func(_ *storm, h *stormServer, _ *rand.Rand) func() {
		return h.toClients.Disturb(there, trouble{Cut: true})
	}},
	{"the connection to a server is reset", toServer, func(_ *storm, h *stormServer, _ *rand.Rand) func() {
		return h.toClients.Disturb(back, trouble{Reset: true})
	}},
	{"half of a message reaches a client", toServer, func(_ *storm, h *stormServer, rng *rand.Rand) func() {
		return h.toClients.Disturb(back, trouble{Limit: 1 + rng.IntN(2000)})
	}},
	{"calls to a server vanish (half open)", toServer, func(_ *storm, h *stormServer, _ *rand.Rand) func() {
		return h.toClients.Disturb(there, trouble{Vanish: true})
	}},
	{"responses from a server vanish (half open)", toServer, func(_ *storm, h *stormServer, _ *rand.Rand) func() {
		return h.toClients.Disturb(back, trouble{Vanish: true})
	}},
}

// setting returns a fault that changes one of Redis's settings.
func setting(name, to, from string) func(*storm, *stormServer, *rand.Rand) func() {
	return func(s *storm, _ *stormServer, _ *rand.Rand) func() {
		require.NoError(s.t, s.env.redis.ConfigSet(s.t.Context(), name, to).Err())
		return func() { require.NoError(s.t, s.env.redis.ConfigSet(s.t.Context(), name, from).Err()) }
	}
}

// milliseconds draws a number of milliseconds below n.
func milliseconds(rng *rand.Rand, n int) time.Duration {
	return time.Duration(rng.IntN(n)) * time.Millisecond
}

func both(one, other func()) func() {
	return func() {
		one()
		other()
	}
}
