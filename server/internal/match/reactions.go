package match

import (
	"sync/atomic"
	"time"

	"github.com/gridstand/gridstand/server/internal/store"
)

// maxReactions is the maximum of each count that a server reports or announces.
const maxReactions = 1000

// reactions counts reactions, by kind, until they are taken.
type reactions [len(store.Reactions{})]atomic.Int32

func (r *reactions) add(more store.Reactions) {
	for kind, n := range more {
		r[kind].Add(max(n, 0))
	}
}

// some reports whether there are reactions.
func (r *reactions) some() bool {
	for kind := range r {
		if r[kind].Load() > 0 {
			return true
		}
	}
	return false
}

// take returns the counts and resets them.
func (r *reactions) take() (counts store.Reactions) {
	for kind := range r {
		counts[kind] = min(r[kind].Swap(0), maxReactions)
	}
	return counts
}

// React shows a reaction to the watchers and players of the game on all servers, within about a
// second. It does no I/O and takes no lock. kind is an index of store.Reactions.
func (m *Match) React(kind int) { m.watching.reacted[kind].Add(1) }

// showReactions reports and announces the new reactions of the given matches, halfway between
// two calls of check.
func (h *Hub) showReactions(matches []*Match, now time.Time) {
	for _, m := range matches {
		if c := &m.watching; (c.reacted.some() || c.shown.some()) && m.loaded() {
			h.countAudience(m, now)
		}
	}
}
