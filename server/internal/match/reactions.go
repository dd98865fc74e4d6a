package match

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/gridstand/gridstand/server/internal/store"
)

// reactions counts reactions until they are taken.
type reactions struct {
	some   atomic.Bool // whether counts has any; faster to read than counts
	mu     sync.Mutex
	counts store.Reactions
}

func (r *reactions) add(more store.Reactions) {
	if !more.Any() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts = r.counts.Add(more)
	r.some.Store(true)
}

// take returns the counts and resets them.
func (r *reactions) take() (counts store.Reactions) {
	if !r.some.Load() {
		return counts
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	counts, r.counts = r.counts, counts
	r.some.Store(false)
	return counts
}

// React shows a reaction to the watchers and players of the game on all servers, within about a
// second. It does no I/O and takes no lock that a move takes. kind is an index of
// store.Reactions.
func (m *Match) React(kind int) {
	var one store.Reactions
	one[kind] = 1
	m.watching.reacted.add(one)
}

// showReactions reports and announces the new reactions of the given matches, halfway between
// two calls of countAudiences.
func (h *Hub) showReactions(matches []*Match, now time.Time) {
	for _, m := range matches {
		if c := &m.watching; (c.reacted.some.Load() || c.shown.some.Load()) && m.loaded() {
			h.countAudience(m, now)
		}
	}
}
