package redis

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Ensure that the outcome of an append whose reply is lost is unknown, and that
// the same append again learns that it took effect, once.
func TestAppend_LostReply(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		proxy := redistest.StartProxy(t, r.addr)
		lossy, gameID := openAt(t, proxy.Addr(), 10*time.Second).Games, name("a")
		last := r.create(gameID, 1)
		for range 5 {
			e := entry(last)
			lost := proxy.Lose(1, "evalsha")
			_, err := lossy.Append(t.Context(), gameID, e)
			require.ErrorIs(t, err, store.ErrUnsettled)
			<-lost
			require.Len(t, r.content(gameID).log, int(e.Next.Version))

			r.unwritten(gameID, func() {
				again, err := lossy.Append(t.Context(), gameID, e)
				require.NoError(t, err)
				assert.Equal(t, -1, again.Watchers)
			})
			last = e.Next
		}
		r.sound(gameID, last)
	})
}

// eventually appends until the outcome is known.
func eventually(t *testing.T, games store.Games, gameID string, e store.Entry) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, err := games.Append(t.Context(), gameID, e)
		return err == nil
	}, testPatience, 10*time.Millisecond)
}

// Ensure that an append that Redis never got, or answers after the caller has
// left, is settled by the same append again, and took effect once.
func TestAppend_Unsettled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		proxy := redistest.StartProxy(t, r.addr)
		far, gameID := openAt(t, proxy.Addr(), 10*time.Second).Games, name("a")
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

// Ensure the same of a Redis that stands still past a call's deadline: the
// entry that was on its way may arrive later, and then it is the same one.
func TestAppend_RedisStops(t *testing.T) {
	t.Parallel()
	server := redistest.StartRedis(t)
	r, gameID := newRig(t, redistest.NewClient(t, server.Addr())), name("a")
	last := r.create(gameID, 4)
	const readTimeout = 300 * time.Millisecond
	r.store = openAt(t, server.Addr(), readTimeout)
	games := r.store.Games
	require.Eventually(t, func() bool {
		_, err := games.Tail(t.Context(), gameID)
		return err == nil
	}, testPatience, time.Millisecond, "there is a connection")
	e := entry(last)

	server.Pause()
	ctx, cancel := context.WithTimeout(t.Context(), readTimeout/3)
	defer cancel()
	_, err := games.Append(ctx, gameID, e)
	require.ErrorIs(t, err, store.ErrUnsettled)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	// The client also gives up by itself.
	began := time.Now()
	_, err = games.Append(t.Context(), gameID, e)
	require.ErrorIs(t, err, store.ErrUnsettled)
	assert.Less(t, time.Since(began), testPatience)
	server.Resume()

	eventually(t, games, gameID, e)
	require.EqualValues(t, 5, e.Next.Version)
	r.sound(gameID, e.Next)
}
