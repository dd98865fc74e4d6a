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

// BenchmarkCostOfAMove is what a move costs the server's process beside what a
// bare call costs a server, in time on a processor and in allocations, and how
// much of the bare server's time Redis takes for it.
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

// BenchmarkCostOfMetrics is what an event to a watcher, and a move, cost a server
// with metrics beside one without, in time on a processor.
func BenchmarkCostOfMetrics(b *testing.B) {
	metered, bare := startOurs(b), startOurs(b, unmeteredVariable+"=1")
	b.Run("event", func(b *testing.B) {
		each := func(server *process) func() float64 {
			p := startedPlayer(b, server, "watched")
			game := watchGame(b, server, p, watchers, perConnection)
			return func() float64 { return costOfAnEvent(b, server, "work", game) }
		}
		ratio.Compare(b, "µs/event", ratio.Goal{}, each(metered), each(bare))
	})
	b.Run("move", func(b *testing.B) {
		each := func(server *process) func() float64 {
			moves := movesOf(newPlayers(b, server))
			return func() float64 {
				before, done := server.ask(b, "work"), int64(0)
				perSecond(b, moves, func(n int64) { done = n })
				return (server.ask(b, "work") - before) / float64(done)
			}
		}
		ratio.Compare(b, "µs/move", ratio.Goal{}, each(metered), each(bare))
	})
}

// redisWork asks for how many microseconds a Redis had a processor.
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
