package lifecycle

import (
	"context"
	"slices"
	"sync"
	"time"
)

// usageHalved is the interval at which the recorded thinking time of all sources is halved.
// Less than usageForgotten is not recorded.
const (
	usageHalved    = 10 * time.Second
	usageForgotten = time.Millisecond
)

// thinkers limits the number of bots that think concurrently. A race or a game may have
// several bots, and one player may create hundreds of games, so a bot does not wait in one
// queue with all others: the next to think is a bot for the source whose bots have recently
// thought for the shortest time. See bots.source.
type thinkers struct {
	mu      sync.Mutex
	free    int
	waiting map[string][]chan struct{} // by source, in order of arrival; closed to admit a bot
	running map[string]int             // number of thinking bots, by source
	// used contains the recent thinking time of each source's bots; see usageHalved.
	used   map[string]time.Duration
	halved time.Time
}

func newThinkers(n int) *thinkers {
	return &thinkers{free: n, waiting: map[string][]chan struct{}{}, running: map[string]int{}, used: map[string]time.Duration{}, halved: time.Now()}
}

// enter waits until a bot may think for a source. If err is nil, the caller must call leave
// with the time for which the bot has thought.
func (t *thinkers) enter(ctx context.Context, source string) (leave func(thought time.Duration), err error) {
	admitted := make(chan struct{})
	t.mu.Lock()
	t.waiting[source] = append(t.waiting[source], admitted)
	t.admit()
	t.mu.Unlock()
	select {
	case <-admitted:
	case <-ctx.Done():
		if t.withdraw(source, admitted) {
			return nil, ctx.Err()
		}
	}
	return func(thought time.Duration) { t.leave(source, thought) }, nil
}

// withdraw removes a bot that waits. It returns false if the bot has been admitted.
func (t *thinkers) withdraw(source string, admitted chan struct{}) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	queue := t.waiting[source]
	i := slices.Index(queue, admitted)
	if i < 0 {
		return false
	}
	t.setWaiting(source, slices.Delete(queue, i, i+1))
	return true
}

func (t *thinkers) leave(source string, thought time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := time.Now(); now.Sub(t.halved) >= usageHalved {
		t.halved = now
		for id := range t.used {
			if t.used[id] /= 2; t.used[id] < usageForgotten {
				delete(t.used, id)
			}
		}
	}
	t.used[source] += thought
	if t.running[source]--; t.running[source] == 0 {
		delete(t.running, source)
	}
	t.free++
	t.admit()
}

// admit lets bots think while there is room for them. The caller holds mu.
func (t *thinkers) admit() {
	for t.free > 0 && len(t.waiting) > 0 {
		next, found := "", false
		for id := range t.waiting {
			if !found || t.before(id, next) {
				next, found = id, true
			}
		}
		close(t.waiting[next][0])
		t.setWaiting(next, t.waiting[next][1:])
		t.free--
		t.running[next]++
	}
}

// before reports whether a bot for source a thinks before one for source b.
func (t *thinkers) before(a, b string) bool {
	if t.running[a] != t.running[b] {
		return t.running[a] < t.running[b]
	}
	return t.used[a] < t.used[b]
}

func (t *thinkers) setWaiting(source string, queue []chan struct{}) {
	if len(queue) == 0 {
		delete(t.waiting, source)
		return
	}
	t.waiting[source] = queue
}
