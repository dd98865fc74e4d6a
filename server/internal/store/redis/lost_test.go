package redis

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Ensure that the outcome of an append is unknown if its reply is lost, and that
// repeating the append succeeds without writing the entry twice.
func TestAppend_LostReply(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		proxy := redistest.StartProxy(t, r.addr)
		lossy, gameID := openAt(t, proxy.Addr()).Games, name("a")
		last := r.create(gameID, 1)
		for range 5 {
			e := entry(last)
			lost := proxy.Lose(1)
			_, err := lossy.Append(t.Context(), gameID, e)
			require.ErrorIs(t, err, store.ErrUnsettled)
			<-lost
			require.Len(t, r.content(gameID).log, int(e.Next.Version))

			r.unchanged(gameID, func() {
				again, err := lossy.Append(t.Context(), gameID, e)
				require.NoError(t, err)
				assert.Equal(t, -1, again.Watchers)
			})
			last = e.Next
		}
		r.sound(gameID, last)
	})
}

// Ensure that a claim whose reply is lost returns an error. A retry would return that another server
// has claimed the work.
func TestClaim_LostReply(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		proxy := redistest.StartProxy(t, r.addr)
		lossy := openAt(t, proxy.Addr()).Heartbeats
		_, err := lossy.Claim(t.Context(), "other", time.Hour) // so that it is connected
		require.NoError(t, err)
		release, result := proxy.Hold(), make(chan error, 1)
		go func() {
			_, err := lossy.Claim(t.Context(), "work", time.Hour)
			result <- err
		}()
		waittest.Until(t, "the work is claimed", func() bool { return r.client.Exists(t.Context(), claimKey("work")).Val() == 1 })
		proxy.Cut()
		release()
		require.Error(t, waittest.Receive(t, "the outcome", result))
	})
}
