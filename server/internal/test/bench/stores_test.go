//go:build slow

package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/gridstand/gridstand/internal/ratio"
	"github.com/gridstand/gridstand/server"
)

// BenchmarkStores compares a server backed by a SQLite file with one backed by Redis. Both sync
// every move to disk before they acknowledge it. The players use callers, because grpc-go's client
// would take nearly as much processor time as the server and the store. For moves/s and
// latency, servers and stores run on one half of the processors and the players on the other.
func BenchmarkStores(b *testing.B) {
	b.Run("moves of 500 players", func(b *testing.B) {
		file, redis := movesApart(b)
		ratio.Compare(b, "moves/s", ratio.AtLeast(1.2),
			func() float64 { return perSecond(b, file, nil) },
			func() float64 { return perSecond(b, redis, nil) })
	})
	b.Run("p50 at half of the load of Redis", func(b *testing.B) {
		file, redis := movesApart(b)
		var rate float64
		ratio.Compare(b, "ms", ratio.AtMost(1.2),
			func() float64 {
				if rate == 0 {
					rate = perSecond(b, redis, nil) / 2
				}
				return milliseconds(paced(b, rate, file), 0.5)
			},
			func() float64 {
				rate = perSecond(b, redis, nil) / 2
				return milliseconds(paced(b, rate, redis), 0.5)
			})
	})
	b.Run("processor time of server and store", func(b *testing.B) {
		onFile := startOnFile(b)
		store := startStore(b)
		onRedis := startProcess(b, ours, storeVariable+"="+store)
		file, redis := movesOf(callers(b, onFile)), movesOf(callers(b, onRedis))
		work := redisWork(b, store)
		cost := func(moves []func() error, work func() float64) float64 {
			before, done := work(), int64(0)
			perSecond(b, moves, func(n int64) { done = n })
			return (work() - before) / float64(done)
		}
		ratio.Compare(b, "µs/move", ratio.AtMost(0.85),
			func() float64 { return cost(file, func() float64 { return onFile.ask(b, "work") }) },
			func() float64 { return cost(redis, func() float64 { return onRedis.ask(b, "work") + work() }) })
	})
}

// movesApart returns the moves of players on a server with a file, and on one with Redis. The players
// have processors of their own.
func movesApart(b *testing.B) (file, redis []func() error) {
	b.Helper()
	var onFile, onRedis *process
	apart(b, func() { onFile, onRedis = startOnFile(b), startOurs(b) })
	return movesOf(callers(b, onFile)), movesOf(callers(b, onRedis))
}

// apart lets the processes that start starts use the first half of the processors, and this process
// the second half, so that the players do not slow down the servers and the stores.
func apart(b *testing.B, start func()) {
	b.Helper()
	if _, err := exec.LookPath("taskset"); err != nil {
		b.Skip("needs taskset")
	}
	all := runtime.NumCPU()
	if all < 2 {
		b.Skip("needs two processors")
	}
	use := func(first, last int) {
		out, err := exec.Command("taskset", "-acp", fmt.Sprintf("%d-%d", first, last), strconv.Itoa(os.Getpid())).CombinedOutput()
		require.NoError(b, err, string(out))
	}
	b.Cleanup(func() { use(0, all-1) })
	use(0, all/2-1)
	start()
	use(all/2, all-1)
}

// callers creates players that use callers, and makes a first move for each.
func callers(b *testing.B, server *process) []*player {
	b.Helper()
	return playersOn(b, func() grpc.ClientConnInterface { return server.call(b) })
}

// startOnFile starts a server on a new SQLite file.
func startOnFile(b *testing.B) *process {
	b.Helper()
	return startProcess(b, ours, storeVariable+"=sqlite:"+filepath.Join(b.TempDir(), "gridstand.db"))
}

// BenchmarkFile measures, per move, the growth of the SQLite file and the number of bytes
// written to disk.
func BenchmarkFile(b *testing.B) {
	path := filepath.Join(b.TempDir(), "gridstand.db")
	config := benchConfig("sqlite:" + path)
	run := func(work func(address string)) {
		ctx, cancel := context.WithCancel(context.Background())
		running, err := server.Start(ctx, config)
		require.NoError(b, err)
		work(running.Addr().String())
		cancel()
		require.NoError(b, running.Wait()) // stopping the server checkpoints the write-ahead log
	}
	size := func() int64 {
		info, err := os.Stat(path)
		require.NoError(b, err)
		return info.Size()
	}
	run(func(string) {})
	empty := size()
	moves := int64(0)
	var written int64
	run(func(address string) {
		works := make([]func() error, 100)
		for i := range works {
			p := newPlayer(b, dial(b, address), fmt.Sprintf("player %d", i))
			works[i] = p.move
		}
		before := writtenToDisk(b)
		for b.Loop() {
			perSecond(b, works, func(done int64) { moves += done })
		}
		written = writtenToDisk(b) - before
	})
	b.ReportMetric(float64(size()-empty)/float64(moves), "bytes/move")
	b.ReportMetric(float64(written)/float64(moves), "written-bytes/move")
}

// writtenToDisk returns the number of bytes that this process wrote to disk, or 0 if the system
// does not report it.
func writtenToDisk(b *testing.B) (n int64) {
	b.Helper()
	counts, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(counts), "\nwrite_bytes: ")
	_, err = fmt.Sscan(after, &n)
	require.NoError(b, err)
	return n
}
