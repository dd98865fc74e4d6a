//go:build slow

package match

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// watchUntilError watches the match, of which it knows all events, until Next returns an error.
func (m *Match) watchUntilError(ctx context.Context) error {
	watcher := m.newWatcher(ctx, Spectator)
	defer watcher.Close()
	for {
		switch update, changed := watcher.Next(m.State().Version); {
		case update.Err != nil:
			return update.Err
		case update == Update{}:
			<-changed
		}
	}
}

// Ensure that a stopping hub wakes all waiting calls even if Redis does not answer, leaves no
// goroutine running, and refuses new calls.
func TestStop(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		proxy := redistest.StartProxy(t, env.addr)
		s := env.serveWithin(3*time.Second, proxy.Addr()) // A stopping hub waits for calls that Redis does not answer.
		s.create(name("a"), "classic")
		s.create(name("b"), "classic")
		m := s.match(name("a"))
		ctx := waittest.Context(t)

		watching := make(chan error, 1)
		go func() { watching <- m.watchUntilError(ctx) }()
		waittest.Until(t, "the feed is followed", func() bool { return m.followed() })

		defer proxy.Hold()()
		requireUnsettled(t, m, move(m.State(), 0))
		require.Len(t, m.writing, 1, "the append is still being settled")

		var group sync.WaitGroup
		errs := make([]error, 4)
		group.Go(func() { _, errs[0] = m.Do(ctx, move(m.State(), 1)) })
		group.Go(func() { _, errs[1] = m.Do(ctx, resign(99)) })
		group.Go(func() { _, errs[2] = m.Confirm(ctx) })
		group.Go(func() { _, errs[3] = s.Acquire(ctx, name("b")) })
		waittest.Until(t, "both matches are live", func() bool { return s.Live() == 2 })

		s.stop()
		group.Wait()
		for i, err := range errs {
			assert.ErrorIs(t, err, ErrStopping, "%d", i)
		}
		assert.ErrorIs(t, <-watching, ErrStopping)

		_, err := s.Acquire(ctx, name("a"))
		assert.ErrorIs(t, err, ErrStopping)
		_, err = m.Confirm(ctx)
		assert.ErrorIs(t, err, ErrStopping)
		_, err = m.Do(ctx, resign(99))
		assert.ErrorIs(t, err, ErrStopping)
		assert.ErrorIs(t, m.watchUntilError(ctx), ErrStopping)
	})
}
