//go:build slow

package fault

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
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

// trouble is what is wrong with one direction of a proxy.
type trouble = redistest.Trouble

type fault struct {
	name     string
	location faultLocation
	// inject starts the fault. If the fault affects a server, it affects the given one. inject
	// draws all its random numbers before it returns. The returned function ends the fault.
	inject func(s *storm, h *stormServer, rng *rand.Rand) (heal func())
}

// redisFaults lists the faults of Redis.
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

// serverFaults lists the faults of servers.
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
	{"a server is paused (SIGSTOP)", inServer, func(_ *storm, h *stormServer, _ *rand.Rand) func() {
		h.server.process.Pause()
		return h.server.process.Resume
	}},
}

// connectionFaults returns the faults of connections to Redis or to a server. most is the largest number of
// bytes of a direction after which a connection is cut.
func connectionFaults(to string, location faultLocation, most int) (faults []fault) {
	sent, received := []redistest.Way{redistest.ToServer}, []redistest.Way{redistest.ToClient}
	half := func(rng *rand.Rand) trouble { return trouble{Limit: 1 + rng.IntN(most)} }
	for _, f := range []struct {
		name string
		ways []redistest.Way
		draw func(rng *rand.Rand) trouble
	}{
		{"is slow (latency and jitter)", slices.Concat(sent, received), func(rng *rand.Rand) trouble {
			return trouble{Delay: milliseconds(rng, 300), Jitter: milliseconds(rng, 100)}
		}},
		{"delivers responses in pieces", received, func(rng *rand.Rand) trouble { return trouble{Pieces: 1 + rng.IntN(10)} }},
		{"delivers half of a response", received, half},
		{"delivers half of a request", sent, half},
		{"is cut", sent, func(*rand.Rand) trouble { return trouble{Cut: true} }},
		{"is reset", received, func(*rand.Rand) trouble { return trouble{Reset: true} }},
		{"loses requests (half open)", sent, func(*rand.Rand) trouble { return trouble{Vanish: true} }},
		{"loses responses (half open)", received, func(*rand.Rand) trouble { return trouble{Vanish: true} }},
	} {
		inject := func(_ *storm, h *stormServer, rng *rand.Rand) func() {
			proxy := h.toRedis
			if location == toServer {
				proxy = h.toClients
			}
			what := f.draw(rng)
			var heals []func()
			for _, way := range f.ways {
				heals = append(heals, proxy.Disturb(way, what))
			}
			return func() {
				for _, heal := range heals {
					heal()
				}
			}
		}
		faults = append(faults, fault{"the connection to " + to + " " + f.name, location, inject})
	}
	return faults
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
