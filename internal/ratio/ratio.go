// Package ratio measures what the project does beside a bare limit: the same
// work with nothing around it. Both sides run in turns, in one process or on one
// machine, so that whatever else the machine does meets both; what counts
// elsewhere too is their ratio.
//
// A comparison is a Go benchmark that calls Compare once, and its name says what
// was measured. `make bench` prints all of them as one table.
package ratio

import (
	"slices"
	"testing"
	"time"
)

// Rounds is how often each side of a comparison is measured.
const Rounds = 5

// Goal is what a ratio should be; the zero value is none.
type Goal struct {
	bound float64
	most  bool
}

// AtLeast is for what should be much, such as moves a second.
func AtLeast(bound float64) Goal { return Goal{bound: bound} }

// AtMost is for what should be little, such as latency or memory.
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

// Side measures one side of a comparison once and returns the figure. It ends
// the benchmark when it fails.
type Side func() float64

// span is how long PerSecond works.
const span = 500 * time.Millisecond

// PerSecond is a side that does the same work over and over for a while, and
// counts how many units a second come of it: work returns how many it did.
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
// median, lowest and highest ratio of ours to bare in the same round. The side
// that goes first changes every round, so that neither profits from what the
// other left behind.
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

// Report is Compare for figures that were taken elsewhere, one of each slice a
// round: several that come out of one run, such as percentiles of a latency.
func Report(b *testing.B, unit string, goal Goal, ours, bare, ratios []float64) {
	b.Helper()
	ratios = slices.Sorted(slices.Values(ratios))
	b.ReportMetric(0, "ns/op") // Of a whole comparison it means nothing.
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
