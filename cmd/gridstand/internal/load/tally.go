package load

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/gridstand/gridstand/client"
)

// tally is what was counted. Its methods are safe for concurrent use.
type tally struct {
	moves, events, games               atomic.Int64
	gaps, repeats, skipped, reconnects atomic.Int64
	resigned, left                     atomic.Int64

	move, delivery latencies

	mu     sync.Mutex
	errors map[refusal]*ErrorCount
}

// refusal is a kind of error.
type refusal struct{ call, code, reason string }

// fail counts an error of a call.
func (t *tally) fail(call string, err error) {
	e := client.FromError(err)
	key := refusal{call, e.Code.String(), e.Reason}
	t.mu.Lock()
	defer t.mu.Unlock()
	count := t.errors[key]
	if count == nil {
		count = &ErrorCount{Call: key.call, Code: key.code, Reason: key.reason, Message: e.Error(), Advice: advice(call, e)}
		if t.errors == nil {
			t.errors = map[refusal]*ErrorCount{}
		}
		t.errors[key] = count
	}
	count.Count++
}

// latencies is a histogram of durations that many write to at once: a few
// histograms, since those of the library want a lock.
type latencies struct {
	shards [8]struct {
		mu        sync.Mutex
		histogram *hdrhistogram.Histogram
	}
}

// What is told apart: microseconds up to ten minutes, to three digits.
const (
	longest = 10 * time.Minute
	digits  = 3
)

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, longest.Microseconds(), digits)
}

// record notes a duration. Any writer will do as who; different ones do not
// wait for each other.
func (l *latencies) record(who int, d time.Duration) {
	s := &l.shards[who%len(l.shards)]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.histogram == nil {
		s.histogram = newHistogram()
	}
	// It cannot fail between 0 and the longest.
	_ = s.histogram.RecordValue(min(max(d, 0), longest).Microseconds())
}

// sum is what all of them recorded.
func (l *latencies) sum() Latency {
	all := newHistogram()
	for i := range l.shards {
		s := &l.shards[i]
		s.mu.Lock()
		if s.histogram != nil {
			all.Merge(s.histogram)
		}
		s.mu.Unlock()
	}
	at := func(percentile float64) float64 { return milliseconds(all.ValueAtPercentile(percentile)) }
	return Latency{
		Count: all.TotalCount(), P50: at(50), P90: at(90), P99: at(99), Max: milliseconds(all.Max()),
	}
}

func milliseconds(us int64) float64 { return float64(us) / 1000 }
