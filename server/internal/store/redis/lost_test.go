package redis

import (
	"context"
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
			lost := proxy.Lose(1, "evalsha")
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

// eventually repeats an append until its outcome is known.
func eventually(t *testing.T, games store.Games, gameID string, e store.Entry) {
	t.Helper()
	waittest.Until(t, "the append succeeds", func() bool {
		_, err := games.Append(t.Context(), gameID, e)
		return err == nil
	})
}

// Ensure that if Redis never received an append, or replied after the caller had given
// up, repeating the append determines its outcome and the entry is written once.
func TestAppend_Unsettled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		proxy := redistest.StartProxy(t, r.addr)
		far, gameID := openAt(t, proxy.Addr()).Games, name("a")
		last := r.create(gameID, 1)

		proxy.Refuse()
		e := entry(last)
		_, err := far.Append(t.Context(), gameID, e)
		require.ErrorIs(t, err, store.ErrUnsettled)
		require.Len(t, r.content(gameID).log, 1)
		proxy.Accept()
		eventually(t, far, gameID, e)
		r.sound(gameID, e.Next)

		release := proxy.Hold()
		e = entry(e.Next)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		_, err = far.Append(ctx, gameID, e)
		require.ErrorIs(t, err, store.ErrUnsettled)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		release()
		eventually(t, far, gameID, e)
		require.EqualValues(t, 3, e.Next.Version)
		r.sound(gameID, e.Next)
	})
}
