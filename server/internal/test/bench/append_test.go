//go:build slow

package bench

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/ratio"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/redis"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
)

// appenders is the number of games that grow concurrently.
const appenders = 500

// BenchmarkAppend compares appends to SQLite with appends to a Redis server that syncs every
// entry to disk. It appends to 500 games concurrently, as fast as possible, directly to the
// store.
func BenchmarkAppend(b *testing.B) {
	file, err := sqlite.Open(sqlite.Options{Path: filepath.Join(b.TempDir(), "store.db")})
	require.NoError(b, err)
	defer file.Close()
	url := startStore(b)
	shared, err := redis.Open(b.Context(), url, slog.New(slog.DiscardHandler))
	require.NoError(b, err)
	defer shared.Close()

	ours := &appending{b: b, store: file, work: func() float64 { return 0 }}
	bare := &appending{b: b, store: shared, work: redisWork(b, url)}
	for range b.N {
		for i := range ratio.Rounds {
			if i%2 == 0 {
				ours.run()
				bare.run()
			} else {
				bare.run()
				ours.run()
			}
		}
	}
	report := func(unit string, goal ratio.Goal, of func(a *appending) []float64) {
		b.Run(unit, func(b *testing.B) {
			x, y := of(ours), of(bare)
			ratios := make([]float64, len(x))
			for i := range x {
				ratios[i] = x[i] / y[i]
			}
			ratio.Report(b, unit, goal, x, y, ratios)
		})
	}
	report("appends/s", ratio.AtLeast(1.2), func(a *appending) []float64 { return a.rate })
	report("µs/append", ratio.AtMost(0.85), func(a *appending) []float64 { return a.cost })
	report("ms-p50", ratio.Goal{}, func(a *appending) []float64 { return a.p50 })
}

// appending is one side of the comparison: a store, and its results, with one element per round.
type appending struct {
	b     *testing.B
	store *store.Store
	// work returns the processor time, in microseconds, that the store's processes have used,
	// not counting this process.
	work            func() float64
	rate, cost, p50 []float64
}

func (a *appending) run() {
	var group sync.WaitGroup
	spans := make([][]time.Duration, appenders)
	worked, began := a.work()+micros1(work()), time.Now()
	for i := range spans {
		group.Go(func() {
			spans[i] = growLog(a.b, a.store, fmt.Sprintf("%d-%d-%d", i, len(a.rate), began.UnixNano()), span)
		})
	}
	group.Wait()
	took := time.Since(began)
	all := slices.Concat(spans...)
	slices.Sort(all)
	a.rate = append(a.rate, float64(len(all))/took.Seconds())
	a.cost = append(a.cost, (a.work()+micros1(work())-worked)/float64(len(all)))
	a.p50 = append(a.p50, float64(all[len(all)/2])/float64(time.Millisecond))
}

func micros1(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// growLog appends entries to a game for duration d, and returns the time that each append took.
func growLog(b *testing.B, s *store.Store, game string, d time.Duration) (spans []time.Duration) {
	ctx := context.Background()
	began := time.Now()
	e := store.Entry{Raw: make([]byte, 60), Head: make([]byte, 160), Seed: make([]byte, 32)}
	for version := int32(1); time.Since(began) < d; version++ {
		e.Next = store.ID{Version: version, Digest: uint64(version) * 0x9e3779b97f4a7c15}
		copy(e.Raw, strconv.Itoa(int(version)))
		before := time.Now()
		if _, err := s.Games.Append(ctx, game, e); err != nil {
			b.Error(err)
			return spans
		}
		spans = append(spans, time.Since(before))
		e.Prev, e.Seed = e.Next, nil
	}
	return spans
}
