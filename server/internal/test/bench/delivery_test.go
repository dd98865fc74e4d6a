//go:build slow

package bench

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/ratio"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// pace calls move the given number of times at fixed intervals, and returns the duration of
// each call in milliseconds.
func pace(b *testing.B, moves int, every time.Duration, move func() error) []float64 {
	b.Helper()
	next := time.NewTicker(every)
	defer next.Stop()
	var took []float64
	for range moves {
		<-next.C
		began := time.Now()
		require.NoError(b, move())
		took = append(took, millisecondsSince(began))
	}
	return took
}

// BenchmarkDelivery plays one watched game at five moves per second. Every event must reach
// every watcher. The benchmark compares the 99th percentile of the time from append to receipt
// with the interval between moves, because a watcher slower than that would fall further and
// further behind.
func BenchmarkDelivery(b *testing.B) {
	const rate = 5
	n := thousands
	server := startOurs(b)
	p := startedPlayer(b, server, "player")
	game := watchGame(b, server, p, n, perConnection)
	var lags, between, ratios []float64
	for range ratio.Rounds {
		before := game.least()
		game.lags()
		pace(b, 5*rate, time.Second/rate, game.publish)
		game.awaitLeast(b, before+5*rate)
		lag := percentile(game.lags(), 0.99)
		lags, between = append(lags, lag), append(between, 1000/rate)
		ratios = append(ratios, lag/(1000/rate))
	}
	ratio.Report(b, "ms", ratio.AtMost(1), lags, between, ratios)
}

// BenchmarkStalled compares a game that has 1,000 watchers with one that has 1,000 more watchers
// that never read. It measures the latency of moves, and the time until the last of the reading
// watchers has received the event.
func BenchmarkStalled(b *testing.B) {
	const (
		readers = 1000
		moves   = 100
		// After this many events of about 127 bytes, the 8 kB that a server keeps for a stream
		// are full, and further events wait.
		full = 60
	)
	server := startOurs(b)
	games := 0
	// measure plays one game and returns two medians: the latency of a move, and the time from
	// the response until the last of the reading watchers has the event. If stalled is true, the
	// game also has watchers that never read, and measuring starts once they have stalled.
	measure := func(stalled bool) (moved, delivered float64) {
		games++
		p := startedPlayer(b, server, fmt.Sprintf("player %d", games))
		game := watchGame(b, server, p, readers, perConnection)
		defer game.close(b)
		if stalled {
			deaf := openAudience(b, server.address, watchPlan{
				requests: sameRequest(&pb.WatchRequest{GameId: p.game.GetId()}, readers), perConnection: perConnection, deaf: true,
			})
			defer deaf.close(b)
		}
		game.many(b, full)
		seen := game.least()
		var last []float64
		took := pace(b, moves, 20*time.Millisecond, func() error {
			err := game.publish()
			answered := time.Now()
			seen++
			game.awaitLeast(b, seen)
			last = append(last, millisecondsSince(answered))
			return err
		})
		for i := range took {
			took[i] -= last[i]
		}
		return middle(took), middle(last)
	}
	var moved, delivered [2][]float64
	for i := range ratio.Rounds {
		for j := range 2 {
			side := (i + j) % 2
			x, y := measure(side == 0)
			moved[side], delivered[side] = append(moved[side], x), append(delivered[side], y)
		}
	}
	for _, row := range []struct {
		name    string
		figures [2][]float64
	}{{"latency_of_moves", moved}, {"until_all_readers_have_the_event", delivered}} {
		b.Run(row.name, func(b *testing.B) {
			var ratios []float64
			for i := range ratio.Rounds {
				ratios = append(ratios, row.figures[0][i]/row.figures[1][i])
			}
			ratio.Report(b, "ms", ratio.AtMost(1.05), row.figures[0], row.figures[1], ratios)
		})
	}
}

func millisecondsSince(since time.Time) float64 {
	return float64(time.Since(since).Microseconds()) / 1000
}

func middle(figures []float64) float64 {
	return slices.Sorted(slices.Values(figures))[len(figures)/2]
}
