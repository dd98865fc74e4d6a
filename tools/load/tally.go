package main

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gridstand/gridstand/client"
)

// tally collects the counts of a run. Its methods except unseen are safe for concurrent use.
type tally struct {
	moves, events, created, resigned   atomic.Int64
	gaps, repeats, skipped, reconnects atomic.Int64
	move, delivery                     latencies

	mu     sync.Mutex
	errors map[refusal]*refused
	shorts []*watcher // watchers that did not see the end of their game
	left   []string   // ids of games that are still open
}

// refusal identifies the errors that are counted together.
type refusal struct{ call, code, reason string }

// refused counts errors of one kind.
type refused struct {
	text  string // of the first one
	count int64
}

// fail counts the error of a call.
func (t *tally) fail(call string, err error) {
	e := client.FromError(err)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.errors == nil {
		t.errors = map[refusal]*refused{}
	}
	key := refusal{call, e.Code.String(), e.Reason}
	if t.errors[key] == nil {
		t.errors[key] = &refused{text: e.Error()}
	}
	t.errors[key].count++
}

func (t *tally) cutShort(w *watcher) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shorts = append(t.shorts, w)
}

// leave records a game that could not be ended.
func (t *tally) leave(game string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.left = append(t.left, game)
}

// unseen returns the number of watchers that did not see the end of a game that has ended, and the
// number of events that they missed.
func (t *tally) unseen() (watchers, events int64) {
	for _, w := range t.shorts {
		if w.game.known.Over() {
			watchers++
			events += int64(max(0, w.game.known.GetVersion()-w.seen))
		}
	}
	return watchers, events
}

// latencies counts durations in buckets that are 1 µs wide or, from 64 µs, at most 1/32 of the duration.
type latencies struct {
	buckets [32 * 40]atomic.Int64
	longest atomic.Int64
}

func (l *latencies) record(d time.Duration) {
	us := uint64(max(d.Microseconds(), 0))
	shift := max(bits.Len64(us)-6, 0)
	l.buckets[min(shift*32+int(us>>shift), len(l.buckets)-1)].Add(1)
	for longest := l.longest.Load(); int64(d) > longest; longest = l.longest.Load() {
		l.longest.CompareAndSwap(longest, int64(d))
	}
}

func (l *latencies) count() (n int64) {
	for i := range l.buckets {
		n += l.buckets[i].Load()
	}
	return n
}

// percentile returns the duration that the given share of durations does not exceed.
func (l *latencies) percentile(share float64) time.Duration {
	rest := int64(share * float64(l.count()))
	for i := range l.buckets {
		if rest -= l.buckets[i].Load(); rest < 0 {
			shift := max(i/32-1, 0)
			return time.Duration((i-shift*32)<<shift) * time.Microsecond
		}
	}
	return time.Duration(l.longest.Load())
}
