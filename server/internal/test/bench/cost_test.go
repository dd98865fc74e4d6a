//go:build slow

package bench

import (
	"bufio"
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/ratio"
)

// BenchmarkCostOfAMove compares the cost of a move with that of a bare call, in processor time and
// allocations of the server's process. It also compares Redis's processor time with that of the
// bare server.
func BenchmarkCostOfAMove(b *testing.B) {
	store := startStore(b)
	server := startProcess(b, ours, storeVariable+"="+store)
	all := newPlayers(b, server)
	plain := startBareProcess(b, echo, all[0].event)
	moves, echoes := movesOf(all), echoesOf(b, plain, all)
	workOf := func(server *process) func() float64 { return func() float64 { return server.ask(b, "work") } }
	mallocsOf := func(server *process) func() float64 { return func() float64 { return server.ask(b, "allocations") } }
	for _, cost := range []struct {
		name, unit  string
		ours, plain func() float64
	}{
		{"time", "µs/move", workOf(server), workOf(plain)},
		{"time_of_redis", "µs/move", redisWork(b, store), workOf(plain)},
		{"allocations", "allocations/move", mallocsOf(server), mallocsOf(plain)},
	} {
		b.Run(cost.name, func(b *testing.B) {
			each := func(question func() float64, works []func() error) float64 {
				before, done := question(), int64(0)
				perSecond(b, works, func(n int64) { done = n })
				return (question() - before) / float64(done)
			}
			ratio.Compare(b, cost.unit, ratio.Goal{},
				func() float64 { return each(cost.ours, moves) },
				func() float64 { return each(cost.plain, echoes) })
		})
	}
}

// redisWork returns a function that returns the processor time used by a Redis server, in
// microseconds.
func redisWork(b *testing.B, url string) func() float64 {
	b.Helper()
	options, err := redis.ParseURL(url)
	require.NoError(b, err)
	client := redis.NewClient(options)
	b.Cleanup(func() { _ = client.Close() })
	return func() float64 {
		info, err := client.Info(context.Background(), "cpu").Result()
		require.NoError(b, err)
		var seconds float64
		for lines := bufio.NewScanner(strings.NewReader(info)); lines.Scan(); {
			name, value, _ := strings.Cut(lines.Text(), ":")
			if name == "used_cpu_user" || name == "used_cpu_sys" {
				n, err := strconv.ParseFloat(value, 64)
				require.NoError(b, err)
				seconds += n
			}
		}
		return seconds * 1e6
	}
}
