package match

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// Ensure that watchers are counted across all servers, and that those of a crashed server are
// no longer counted after a while.
func TestAudience(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		ctx := waittest.Context(t)
		a, b := env.still(env.addr), env.still(env.addr)
		ma, mb := a.begin(name("a"), "classic"), b.match(name("a"))
		now := time.Now()
		// round makes both servers report their counts until the total is want on both.
		round := func(want int) {
			t.Helper()
			waittest.Until(t, "both servers count all watchers", func() bool {
				now = now.Add(time.Second)
				a.check(a.all(), now)
				b.check(b.all(), now)
				return ma.Spectators() == want && mb.Spectators() == want
			})
		}
		wa := ma.newWatcher(t.Context(), Spectator)
		wb := []*Watcher{mb.newWatcher(t.Context(), Spectator), mb.newWatcher(t.Context(), Spectator)}
		player := mb.newWatcher(t.Context(), Uncounted)
		round(3)
		// The feed may deliver the total of one server's report after the reply to the other's. A move
		// arrives after both totals.
		env.still(env.addr).match(name("a")).play(t, 1)
		waittest.Until(t, "both servers have the move", func() bool { return ma.State().Version == 2 && mb.State().Version == 2 })
		assert.Equal(t, 1, a.Spectators())
		assert.Equal(t, 2, b.Spectators())
		for _, watcher := range []*Watcher{wa, wb[0], player} {
			a.check(a.all(), now)
			b.check(b.all(), now)
			update, _ := watcher.Next(2)
			require.NotNil(t, update.Audience)
			assert.Equal(t, 3, update.Audience.Spectators)
			update, changed := watcher.Next(2)
			require.Equal(t, Update{}, update, "each announcement arrives once")
			now = now.Add(announceEvery)
			a.check(a.all(), now)
			b.check(b.all(), now)
			<-changed
			update, _ = watcher.Next(2)
			require.NotNil(t, update.Audience, "the audience is announced again to keep the stream active")
		}
		// A server without watchers also learns the total.
		c := env.still(env.addr)
		mc := c.match(name("a"))
		mc.play(t, 1)
		assert.Equal(t, 3, c.seen.audience())
		wb[0].Close()
		round(2)
		require.Equal(t, 3, mc.Spectators(), "a match without watchers gets no totals")
		mc.confirm(t)
		require.Equal(t, 2, mc.Spectators())

		// The other server crashes. The test simulates that by making its report old.
		key := "game:{" + name("a") + "}:audience"
		waittest.Until(t, "the crashed server does not count", func() bool {
			// Repeat this, because a report from that server may still be in flight and
			// overwrite it.
			assert.NoError(t, env.client.HSet(ctx, key, b.ServerID, "1 1000000000").Err())
			now = now.Add(refreshEvery)
			a.check(a.all(), now)
			return ma.Spectators() == 1
		})

		// Lists are notified when the last watcher has left.
		wa.Close()
		wb[1].Close()
		player.Close()
		waittest.Until(t, "lists count no watchers", func() bool {
			now = now.Add(time.Second)
			a.check(a.all(), now)
			b.check(b.all(), now)
			heads, err := a.Log.Heads(ctx, []string{name("a")})
			return err == nil && heads[0].Watchers == 0 && a.seen.audience() == 0
		})
		assert.Zero(t, a.Spectators())
		assert.Zero(t, b.Spectators())
	})
}

// Ensure that a new watcher is not told about the spectators who left before it came.
func TestAudience_NewWatcher(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		s := env.still(env.addr)
		m := s.begin(name("a"), "classic")
		early := m.newWatcher(t.Context(), Spectator)
		s.check(s.all(), time.Now())
		update, _ := early.Next(1)
		require.NotNil(t, update.Audience)
		early.Close()

		late := m.newWatcher(t.Context(), Spectator)
		defer late.Close()
		update, _ = late.Next(1)
		assert.Equal(t, Update{}, update)
	})
}

// Ensure that the periodic checks and lists of matches leave out those that are still being loaded.
func TestCheck_Loading(t *testing.T) {
	t.Parallel()
	on := storetest.New(t)
	s := newServer(t, on, on.Games)
	s.matches[name("a")] = newMatch(s.Hub, name("a"))
	s.check(s.all(), time.Now())
	assert.Empty(t, s.Cached())
}

// lateReply is a store whose replies to reports of a match's watchers arrive after the feed has
// delivered a newer total.
type lateReply struct {
	store.Games
	match *Match
}

func (l *lateReply) Audience(context.Context, string, string, int, store.Reactions) (int, error) {
	l.match.AudienceCounted(3, store.Reactions{})
	return 1, nil
}

// Ensure that a late reply to a report of watchers does not replace a newer total.
func TestAudience_LateReply(t *testing.T) {
	t.Parallel()
	on := storetest.New(t)
	late := &lateReply{Games: on.Games}
	s := newServer(t, on, late)
	late.match = s.begin(name("a"), "classic")
	defer late.match.newWatcher(t.Context(), Spectator).Close()
	s.check(s.all(), time.Now())
	waittest.Until(t, "the report has ended", func() bool { return !late.match.watching.reporting.Load() })
	assert.Equal(t, 3, late.match.Spectators())
}

// Ensure that a server removes its watchers from the count when it stops.
func TestAudience_Retracted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		s, other := env.serve(env.addr), env.serve(env.addr)
		watcher := s.begin(name("a"), "classic").newWatcher(t.Context(), Spectator)
		defer watcher.Close()
		m := other.match(name("a"))
		watchers := func() int {
			m.confirm(t)
			return m.Spectators()
		}
		waittest.Until(t, "the watcher is counted", func() bool { return watchers() == 1 })
		s.stop()
		assert.Zero(t, watchers())
	})
}

// Ensure that only unused matches are evicted, and that an evicted match has the same state
// when it is loaded again.
func TestSweep(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		ctx := waittest.Context(t)
		s := env.still(env.addr)
		for _, game := range []string{"used", "watched", "idle"} {
			s.create(name(game), "classic")
		}
		hold := func(game string) *Match {
			m, err := s.Acquire(ctx, name(game))
			require.NoError(t, err)
			return m
		}
		used, watched, idle := hold("used"), hold("watched"), hold("idle")
		watcher := watched.newWatcher(t.Context(), Spectator)
		s.check(s.all(), time.Now())
		state := idle.play(t, 5)
		idle.Release()
		waittest.Until(t, "only the unused match is evicted", func() bool {
			// Retry, because reporting the count briefly holds the match as well.
			s.sweep(time.Now())
			return s.Live() == 3
		})

		later := time.Now().Add(2 * s.Idle)
		s.sweep(later)
		require.Equal(t, 2, s.Live())
		back := hold("idle")
		require.NotSame(t, idle, back)
		same(t, state, back.State())
		back.Release()

		// A match that was reported as watched stays until that report is retracted.
		watcher.Close()
		watched.Release()
		used.Release()
		games := func() []string {
			var left []string
			for _, m := range s.all() {
				left = append(left, m.id)
			}
			slices.Sort(left)
			return left
		}
		waittest.Until(t, "only the watched match is left", func() bool {
			// Retry, because the goroutine that loads a match also holds it briefly.
			s.sweep(later)
			return slices.Equal(games(), []string{name("watched")})
		})
		waittest.Until(t, "no match is left", func() bool {
			s.check(s.all(), later)
			s.sweep(later)
			return s.Live() == 0
		})
		heads, err := s.Log.Heads(ctx, []string{name("watched")})
		require.NoError(t, err)
		assert.Zero(t, heads[0].Watchers)
	})
}

// Ensure that callers that acquire a game at the same time share one load.
func TestAcquire_Shared(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		proxy := redistest.StartProxy(t, env.addr)
		s := env.serve(proxy.Addr())
		s.create(name("a"), "classic")
		release := proxy.Hold()
		const callers = 50
		var group sync.WaitGroup
		found := make([]*Match, callers)
		for i := range callers {
			group.Go(func() {
				var err error
				found[i], err = s.Acquire(waittest.Context(t), name("a"))
				assert.NoError(t, err)
			})
		}
		waittest.Until(t, "the match is being loaded", func() bool { return s.Live() == 1 })
		release()
		group.Wait()
		for _, m := range found {
			require.Same(t, found[0], m)
			m.Release()
		}
		_, err := s.Acquire(briefly(t), name("nowhere"))
		require.Error(t, err)
	})
}

// Ensure that Acquire finds a game that was created while an earlier load was running, even
// though that load did not find it.
func TestAcquire_CreatedDuringLoad(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		s := env.serve(env.addr)
		early := newMatch(s.Hub, name("a"))
		early.refs++
		s.mu.Lock()
		s.matches[name("a")] = early
		s.mu.Unlock()
		sd := seed(t, 1)
		_, err := s.Create(waittest.Context(t), name("a"), created(t, "classic", sd), sd, time.Time{})
		require.NoError(t, err)
		late := make(chan error, 1)
		go func() {
			m, err := s.Acquire(waittest.Context(t), name("a"))
			if err == nil {
				m.Release()
			}
			late <- err
		}()
		waittest.Until(t, "the second caller waits", func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return early.refs == 2
		})
		early.loadErr = gamelog.ErrNotFound
		s.forget(early)
		close(early.ready)
		require.NoError(t, <-late)
	})
}

// Ensure that the periodic checks are spread over a tick: every match is in exactly one group,
// and no group has many of them.
func TestHub_Groups(t *testing.T) {
	t.Parallel()
	const games = 100 * tickParts
	h := NewHub(Config{})
	for i := range games {
		gameID := name(strconv.Itoa(i))
		h.matches[gameID] = newMatch(h, gameID)
	}
	seen := map[string]bool{}
	groups := h.groups()
	assert.Len(t, groups, tickParts)
	for _, group := range groups {
		assert.Less(t, len(group), games/4) // 100 on average
		for _, m := range group {
			assert.False(t, seen[m.id], "a match is checked twice")
			seen[m.id] = true
		}
	}
	assert.Len(t, seen, games)
}

// Ensure that one more game in memory than the limit makes the hub drop all that nobody uses, and that
// otherwise it keeps them for a while.
func TestHub_SoftLimit(t *testing.T) {
	t.Parallel()
	h, now := NewHub(Config{Idle: time.Minute}), time.Now()
	for n := range softLimit {
		h.matches[strconv.Itoa(n)] = &Match{idleFrom: now}
	}
	h.sweep(now)
	require.Equal(t, softLimit, h.Live())
	h.matches["in use"] = &Match{idleFrom: now, refs: 1}
	h.sweep(now)
	require.Equal(t, 1, h.Live())
}
