package load

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/gridstand/gridstand/client"
)

// tally collects the counts of a run. Its methods are safe for concurrent use.
type tally struct {
	moves, events, games               atomic.Int64
	gaps, repeats, skipped, reconnects atomic.Int64
	resigned, left                     atomic.Int64

	move, delivery *latencies

	mu     sync.Mutex
	errors map[refusal]*ErrorCount
	shorts []short
}

// short records that a watcher did not see the end of a game. seen is the last version that
// it saw.
type short struct {
	game *game
	seen int32
}

func (t *tally) cutShort(s short) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shorts = append(t.shorts, s)
}

// refusal identifies the errors that are counted together.
type refusal struct{ call, code, reason string }

// fail counts an error from a call.
func (t *tally) fail(call string, err error) {
	e := client.FromError(err)
	key := refusal{call, e.Code.String(), e.Reason}
	t.mu.Lock()
	defer t.mu.Unlock()
	count := t.errors[key]
	if count == nil {
		count = &ErrorCount{Call: key.call, Code: key.code, Reason: key.reason, Message: e.Error(), Advice: advice(call, e)}
		t.errors[key] = count
	}
	count.Count++
}

// latencies is a histogram of durations. Its methods are safe for concurrent use.
type latencies struct {
	mu        sync.Mutex
	histogram *hdrhistogram.Histogram
}

// The histogram has a resolution of three digits, from microseconds to ten minutes.
const (
	longest = 10 * time.Minute
	digits  = 3
)

func newLatencies() *latencies {
	return &latencies{histogram: hdrhistogram.New(1, longest.Microseconds(), digits)}
}

func (l *latencies) record(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// RecordValue cannot fail for values between 0 and longest.
	_ = l.histogram.RecordValue(min(max(d, 0), longest).Microseconds())
}

// sum returns the distribution of the recorded durations.
func (l *latencies) sum() Latency {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := func(percentile float64) float64 { return milliseconds(l.histogram.ValueAtPercentile(percentile)) }
	return Latency{
		Count: l.histogram.TotalCount(), P50: at(50), P90: at(90), P99: at(99), Max: milliseconds(l.histogram.Max()),
	}
}

func milliseconds(us int64) float64 { return float64(us) / 1000 }
