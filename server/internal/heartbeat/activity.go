package heartbeat

import (
	"slices"
	"sync"
	"time"
)

// span is a time in which this server's appends succeeded, never outageAfter
// apart.
type span struct{ from, to time.Time }

// maxSpans bounds the spans that are remembered while no heartbeat succeeds.
const maxSpans = 100

// activity remembers when this server's appends succeeded, by Redis's clock,
// since its last heartbeat.
type activity struct {
	mu  sync.Mutex
	all []span
}

// note notes an append that succeeded at a moment.
func (a *activity) note(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := len(a.all); n > 0 && at.Sub(a.all[n-1].to) <= outageAfter {
		last := &a.all[n-1]
		if at.After(last.to) {
			last.to = at
		}
		return
	}
	if len(a.all) == maxSpans {
		a.all = a.all[1:]
	}
	a.all = append(a.all, span{at, at})
}

func (a *activity) spans() []span {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.all)
}

// forget forgets the spans that ended before a heartbeat that reported them.
func (a *activity) forget(before time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.all) > 0 && a.all[0].to.Before(before) {
		a.all = a.all[1:]
	}
}
