// Package ratio compares the performance of the project's code with a baseline: the bare minimum of
// code that does the same work. Both sides run alternately, in one process or on one machine, so
// that other load on the machine affects both. Their ratio is comparable across machines.
//
// A comparison is a Go benchmark that calls Compare once and is named for the thing it
// measures. `make bench` prints all of them as one table.
package ratio

import (
	"slices"
	"testing"
	"time"
)

// Rounds is the number of times that each side of a comparison is measured.
const Rounds = 5

// Goal is a bound on a ratio. The zero Goal sets no bound.
type Goal struct {
	bound float64
	most  bool
}

// AtLeast returns a lower bound, for throughput such as moves per second.
func AtLeast(bound float64) Goal { return Goal{bound: bound} }

// AtMost returns an upper bound, for latency or memory.
func AtMost(bound float64) Goal { return Goal{bound: bound, most: true} }

// The metrics of a comparison, in addition to the medians of both sides, which are named after
// their unit: "moves/s" and "bare-moves/s".
const (
	// Median, Lowest and Highest summarize the rounds' ratios of ours to bare.
	Median  = "ratio"
	Lowest  = "ratio-lowest"
	Highest = "ratio-highest"
	// GoalLeast and GoalMost are the bounds set by AtLeast and AtMost.
	GoalLeast = "goal-at-least"
	GoalMost  = "goal-at-most"
	// Bare is the prefix of the bare side's unit.
	Bare = "bare-"
)

// Side measures one side of a comparison once and returns the figure. On failure it ends the
// benchmark.
type Side func() float64

// span is the duration of one measurement by PerSecond.
const span = 500 * time.Millisecond

// PerSecond returns a side that calls work repeatedly and measures units per second. work returns
// the number of units that it completed.
func PerSecond(work func() int64) Side {
	return func() float64 {
		began, done := time.Now(), int64(0)
		for time.Since(began) < span {
			done += work()
		}
		return float64(done) / time.Since(began).Seconds()
	}
}

// Compare measures both sides alternately and reports the median of each, and the median, lowest
// and highest ratio of ours to bare within a round. Each side goes first in every other round, so
// that neither benefits from the state that the other left behind.
func Compare(b *testing.B, unit string, goal Goal, ours, bare Side) {
	b.Helper()
	var a, c, ratios []float64
	for i := range Rounds {
		var x, y float64
		if i%2 == 0 {
			x, y = ours(), bare()
		} else {
			y, x = bare(), ours()
		}
		a, c, ratios = append(a, x), append(c, y), append(ratios, x/y)
	}
	Report(b, unit, goal, a, c, ratios)
}

// Report is like Compare but takes figures that have already been measured. Each slice has one
// figure per round. Use it if one run yields several figures, such as latency percentiles.
func Report(b *testing.B, unit string, goal Goal, ours, bare, ratios []float64) {
	b.Helper()
	ratios = slices.Sorted(slices.Values(ratios))
	b.ReportMetric(0, "ns/op") // hides the time per operation, which means nothing for a comparison
	b.ReportMetric(median(ours), unit)
	b.ReportMetric(median(bare), Bare+unit)
	b.ReportMetric(median(ratios), Median)
	b.ReportMetric(ratios[0], Lowest)
	b.ReportMetric(ratios[len(ratios)-1], Highest)
	switch {
	case goal.most:
		b.ReportMetric(goal.bound, GoalMost)
	case goal != Goal{}:
		b.ReportMetric(goal.bound, GoalLeast)
	}
}

func median(figures []float64) float64 {
	sorted := slices.Sorted(slices.Values(figures))
	return sorted[len(sorted)/2]
}
