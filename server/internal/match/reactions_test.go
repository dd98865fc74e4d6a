package match

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Ensure that many reactions are one announcement on each server, with at most a thousand of a kind,
// and that they are announced once, and not to later watchers.
func TestReactions(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		a, b := env.still(env.addr), env.still(env.addr)
		ma, mb := a.begin(name("a"), "classic"), b.match(name("a"))
		wa, wb := ma.newWatcher(t.Context(), Spectator), mb.newWatcher(t.Context(), Spectator)
		now := time.Now()
		env.still(env.addr).match(name("a")).play(t, 1)
		waittest.Until(t, "both servers follow the game", func() bool { return ma.State().Version == 2 && mb.State().Version == 2 })
		// shown returns the reactions of the watcher's next announcement that has some.
		shown := func(w *Watcher) (got store.Reactions) {
			t.Helper()
			waittest.Until(t, "reactions", func() bool {
				a.showReactions(a.all(), now)
				b.showReactions(b.all(), now)
				update, _ := w.Next(2)
				if update.Audience != nil {
					got = update.Audience.Reactions
				}
				return got.Any()
			})
			return got
		}
		ma.watching.shown.add(store.Reactions{-500}) // from a faulty server
		for range 1500 {
			ma.React(0)
			ma.React(5)
		}
		want := store.Reactions{1000, 0, 0, 0, 0, 1000}
		assert.Equal(t, want, shown(wa))
		assert.Equal(t, want, shown(wb))
		late := mb.newWatcher(t.Context(), Uncounted)
		for _, w := range []*Watcher{wb, late} {
			update, _ := w.Next(2)
			assert.True(t, update.Audience == nil || !update.Audience.Reactions.Any())
		}
		b.showReactions(b.all(), now.Add(tick))
		update, _ := wb.Next(2)
		assert.Equal(t, Update{}, update, "nothing new")
		for _, w := range []*Watcher{wa, wb, late} {
			w.Close()
		}
	})
}
