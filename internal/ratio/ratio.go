// Package ratio measures what the project does beside a bare limit: the same work
// with nothing around it. Both sides run in turns, in one process or on one machine,
// so that other load on the machine affects both. Their ratio is comparable between
// machines.
//
// A comparison is a Go benchmark that calls Compare once and is named after what it
// measures. `make bench` prints all of them as one table.
package ratio

import (
	"slices"
	"testing"
	"time"
)

// Rounds is how often each side of a comparison is measured.
const Rounds = 5

// Goal is a bound for a ratio; the zero Goal is none.
type Goal struct {
	bound float64
	most  bool
}

// AtLeast is a lower bound: for throughput, such as moves a second.
func AtLeast(bound float64) Goal { return Goal{bound: bound} }

// AtMost is an upper bound: for latency or memory.
func AtMost(bound float64) Goal { return Goal{bound: bound, most: true} }

// The metrics of a comparison, beside the medians of both sides, which carry
// their unit: "moves/s" and "bare-moves/s".
const (
	// Median, Lowest and Highest of the rounds' ratios, ours to bare.
	Median  = "ratio"
	Lowest  = "ratio-lowest"
	Highest = "ratio-highest"
	// GoalLeast and GoalMost are the bounds of AtLeast and AtMost.
	GoalLeast = "goal-at-least"
	GoalMost  = "goal-at-most"
	// Bare is the prefix of the bare side's unit.
	Bare = "bare-"
)

// Side measures one side of a comparison once and returns the figure. It ends the
// benchmark if it fails.
type Side func() float64

// span is how long PerSecond works.
const span = 500 * time.Millisecond

// PerSecond is a side that repeats the same work for a while and measures units per
// second: work returns how many units it did.
func PerSecond(work func() int64) Side {
	return func() float64 {
		began, done := time.Now(), int64(0)
		for time.Since(began) < span {
			done += work()
		}
		return float64(done) / time.Since(began).Seconds()
	}
}

// Compare measures both sides in turns and reports the median of each, and the
// median, lowest and highest ratio of ours to bare in the same round. The sides take
// turns in going first, so that neither profits from the state that the other left.
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

// Report is Compare for figures that were measured elsewhere, one of each slice per
// round: for several that come from one run, such as percentiles of a latency.
func Report(b *testing.B, unit string, goal Goal, ours, bare, ratios []float64) {
	b.Helper()
	ratios = slices.Sorted(slices.Values(ratios))
	b.ReportMetric(0, "ns/op") // It means nothing for a comparison.
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
