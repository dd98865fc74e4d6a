package match

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Ensure that a watcher that falls behind the events in memory gets the current state
// instead of the missed events, which TestHistory reads from the log.
func TestWatch_Slow(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		s := env.serve(env.addr)
		m := s.begin(name("a"), "6x6")
		watcher := m.newWatcher(t.Context(), Spectator)
		defer watcher.Close()
		m.play(t, RingSize)
		update, _ := watcher.Next(1)
		require.EqualValues(t, 2, update.Event.Version(), "the oldest event in memory")
		state := m.play(t, 1)
		update, _ = watcher.Next(1)
		require.Nil(t, update.Event)
		require.Same(t, state, update.Missed)
		update, _ = watcher.Next(state.Version)
		require.Equal(t, Update{}, Update{Event: update.Event, Missed: update.Missed, Err: update.Err})
	})
}

// Ensure that an event is encoded once for all watchers, and that it wakes a waiting watcher.
func TestWatch_Encoded(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		s := env.serve(env.addr)
		m := s.begin(name("a"), "classic")
		watcher := m.newWatcher(t.Context(), Uncounted)
		defer watcher.Close()
		_, changed := watcher.Next(1)
		m.play(t, 1)
		waittest.Receive(t, "the watcher to be woken", changed)
		update, _ := watcher.Next(1)
		encodings := 0
		for range 3 {
			got := update.Event.Encoded(Proto, func() any { encodings++; return encodings })
			assert.Equal(t, 1, got)
		}
	})
}

// Ensure that an event is counted once for each watcher on the server, including players of
// the game, whether this server or another one appended it.
func TestWatch_Delivered(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		near, far := env.serve(env.addr), env.serve(env.addr)
		mover, m := near.begin(name("a"), "classic"), far.match(name("a"))
		first, second := m.newWatcher(t.Context(), Spectator), m.newWatcher(t.Context(), Uncounted)
		defer second.Close()
		counts := func(deliveries int) {
			t.Helper()
			waittest.Until(t, "all deliveries are counted", func() bool { return far.seen.deliveries() == deliveries })
		}
		mover.play(t, 3)
		counts(2 * 3)
		first.Close()
		mover.play(t, 2)
		counts(2*3 + 2)
		assert.Zero(t, near.seen.deliveries(), "that server has no watchers")
	})
}

// Ensure that a confirmation begins after the call that requests it, because one that is
// already running may have read the log before an append that has since been acknowledged.
func TestConfirm_BeginsAfterCall(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		proxy := redistest.StartProxy(t, env.addr)
		here, there := env.still(env.addr), env.still(proxy.Addr())
		m, elsewhere := here.begin(name("a"), "6x6"), there.match(name("a"))
		waits := func(condition func() bool) {
			t.Helper()
			waittest.Until(t, "the condition of the confirmation holds", func() bool {
				elsewhere.mu.Lock()
				defer elsewhere.mu.Unlock()
				return condition()
			})
		}
		var group sync.WaitGroup
		confirm := func(least int32) {
			group.Go(func() {
				tip, err := elsewhere.Confirm(waittest.Context(t))
				if assert.NoError(t, err) {
					assert.GreaterOrEqual(t, tip.ID.Version, least)
				}
			})
		}
		elsewhere.confirm(t) // so that all connections are open
		for _, first := range []func(){func() { confirm(1) }, elsewhere.refresh} {
			release := proxy.Hold()
			first()
			waits(func() bool { return len(elsewhere.checking) == 1 && elsewhere.next == nil })
			confirm(m.play(t, 30).Version)
			waits(func() bool { return elsewhere.next != nil })
			_, err := elsewhere.Confirm(briefly(t))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			release()
			group.Wait()
			waits(func() bool { return len(elsewhere.checking) == 0 })
		}
	})
}

// Ensure that a match is stale only if Redis has not confirmed the tip for a while,
// by an append or a check, if its log could not be read, or if it missed entries.
func TestMatch_Stale(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		proxy := redistest.StartProxy(t, env.addr)
		s := env.still(proxy.Addr())
		m := s.begin(name("a"), "classic")
		later := func() int64 { return s.ticks.Add(followTicks) }

		for _, asked := range []func(){
			func() { m.play(t, 1) },
			func() { m.confirm(t) },
		} {
			assert.True(t, m.stale(later()))
			asked()
			assert.False(t, m.stale(s.ticks.Load()+followTicks-1))
		}
		m.fail(assert.AnError)
		assert.True(t, m.stale(s.ticks.Load()))
		m.confirm(t)
		assert.False(t, m.stale(s.ticks.Load()))
		proxy.Refuse()
		m.Published(store.Record{ID: store.ID{Version: m.State().Version + 2}})
		assert.True(t, m.stale(s.ticks.Load()), "the match missed entries")
	})
}
