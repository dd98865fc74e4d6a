//go:build slow

package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/ratio"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
)

// BenchmarkLatency compares the latency of a move with that of a bare call followed by an append
// that Redis syncs to disk, both at half the server's maximum move rate.
func BenchmarkLatency(b *testing.B) {
	all := newPlayers(b, startOurs(b))
	moves := movesOf(all)
	bare := writeAfter(b, echoesOf(b, startBareProcess(b, echo, all[0].event), all))

	percentiles := []float64{0.50, 0.99}
	ours, theirs, ratios := make([][]float64, 2), make([][]float64, 2), make([][]float64, 2)
	for range ratio.Rounds {
		rate := perSecond(b, moves, nil) / 2
		a, c := paced(b, rate, moves), paced(b, rate, bare)
		for i, p := range percentiles {
			x, y := milliseconds(a, p), milliseconds(c, p)
			ours[i], theirs[i], ratios[i] = append(ours[i], x), append(theirs[i], y), append(ratios[i], x/y)
		}
	}
	for i, p := range percentiles {
		b.Run(fmt.Sprintf("p%.0f at half of the load", 100*p), func(b *testing.B) {
			ratio.Report(b, "ms", ratio.AtMost(1.5), ours[i], theirs[i], ratios[i])
		})
	}
}

// writeAfter extends each call: if the call succeeds, an entry as large as a move is then
// appended to the call's own Redis stream. Redis syncs the entry to disk before it replies.
func writeAfter(b *testing.B, calls []func() error) []func() error {
	b.Helper()
	store := redistest.StartRedis(b, "--appendonly", "yes", "--appendfsync", "always")
	options, err := redis.ParseURL(store.URL())
	require.NoError(b, err)
	options.PoolSize = players
	client := redis.NewClient(options)
	b.Cleanup(func() { _ = client.Close() })
	both := make([]func() error, len(calls))
	for i, call := range calls {
		entry := &redis.XAddArgs{Stream: fmt.Sprint("log ", i), Values: []any{"t", "1790000000000", "e", "\x08\x00\x1a\x02\x08\x01"}}
		both[i] = func() error {
			if err := call(); err != nil {
				return err
			}
			return client.XAdd(context.Background(), entry).Err()
		}
	}
	return both
}

// paced calls the functions in works for the duration span, at a combined rate of rate calls per
// second, and returns the sorted durations of all calls.
func paced(b *testing.B, rate float64, works []func() error) []time.Duration {
	b.Helper()
	pause := time.Duration(float64(len(works)) / rate * float64(time.Second))
	took := make([][]time.Duration, len(works))
	var group sync.WaitGroup
	began := time.Now()
	for i, work := range works {
		group.Go(func() {
			// Start at a random offset, so that the works do not run in lockstep.
			next := began.Add(rand.N(pause))
			for next.Before(began.Add(span)) {
				time.Sleep(time.Until(next)) //nolint:forbidigo // The rate is part of the measurement.
				next = next.Add(pause)
				sent := time.Now()
				if err := work(); err != nil {
					b.Error(err)
					return
				}
				took[i] = append(took[i], time.Since(sent))
			}
		})
	}
	group.Wait()
	return slices.Sorted(slices.Values(slices.Concat(took...)))
}

// milliseconds returns a percentile of sorted durations, in milliseconds.
func milliseconds(sorted []time.Duration, share float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := min(int(share*float64(len(sorted))), len(sorted)-1)
	return float64(sorted[at]) / float64(time.Millisecond)
}
