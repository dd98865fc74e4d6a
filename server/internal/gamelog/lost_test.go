package gamelog

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
)

// Ensure that an append whose answer is lost is known to be unknown, and that
// the same append again learns that it took effect, once.
func TestAppend_LostReply(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		proxy := redistest.StartProxy(t, r.addr)
		lossy := newLog(t, proxy.Addr())
		tip := r.create(name("a"), "classic")
		for range 5 {
			d := r.draft(tip, moved(tip.State, 0))
			lost := proxy.Lose(1, "evalsha")
			_, err := lossy.Append(t.Context(), d)
			require.ErrorIs(t, err, ErrUnsettled)
			<-lost
			require.Len(t, r.content(name("a")).log, int(tip.ID.Version)+1)

			var again Appended
			r.unwritten(name("a"), func() { again, err = lossy.Append(t.Context(), d) })
			require.NoError(t, err)
			tip = again.Tip
		}
		r.sound(tip)
	})
}

// eventually appends until the outcome is known.
func eventually(t *testing.T, l *Log, d *Draft) Tip {
	t.Helper()
	var appended Appended
	require.Eventually(t, func() bool {
		var err error
		appended, err = l.Append(t.Context(), d)
		return err == nil
	}, patience, 10*time.Millisecond)
	return appended.Tip
}

// Ensure that an append that Redis never got, or answers after the caller has
// left, is settled by the same append again, and took effect once.
func TestAppend_Unsettled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		proxy := redistest.StartProxy(t, r.addr)
		far := newLog(t, proxy.Addr())
		tip := r.create(name("a"), "classic")

		proxy.Refuse()
		d := r.draft(tip, moved(tip.State, 0))
		_, err := far.Append(t.Context(), d)
		require.ErrorIs(t, err, ErrUnsettled)
		require.Len(t, r.content(name("a")).log, 1)
		proxy.Accept()
		tip = eventually(t, far, d)
		r.sound(tip)

		release := proxy.Hold()
		d = r.draft(tip, moved(tip.State, 0))
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		_, err = far.Append(ctx, d)
		require.ErrorIs(t, err, ErrUnsettled)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		release()
		tip = eventually(t, far, d)
		require.EqualValues(t, 3, tip.ID.Version)
		r.sound(tip)
	})
}

// Ensure the same of a Redis that stands still past a call's deadline: the
// entry that was on its way may arrive later, and then it is the same one.
func TestAppend_RedisStops(t *testing.T) {
	t.Parallel()
	server := redistest.StartRedis(t)
	r := newRig(t, redistest.NewClient(t, server.Addr()))
	tip := r.play(r.create(name("a"), "classic"), 3)
	const readTimeout = 300 * time.Millisecond
	r.log = newLogWith(t, server.Addr(), readTimeout)
	require.Eventually(t, func() bool {
		_, err := r.log.Tail(t.Context(), name("a"))
		return err == nil
	}, patience, time.Millisecond, "the connection stands")
	d := r.draft(tip, moved(tip.State, 0))

	server.Pause()
	ctx, cancel := context.WithTimeout(t.Context(), readTimeout/3)
	defer cancel()
	_, err := r.log.Append(ctx, d)
	require.ErrorIs(t, err, ErrUnsettled)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	// The client gives up in time by itself too.
	begun := time.Now()
	_, err = r.log.Append(t.Context(), d)
	require.ErrorIs(t, err, ErrUnsettled)
	assert.Less(t, time.Since(begun), patience)
	server.Resume()

	tip = eventually(t, r.log, d)
	require.EqualValues(t, 5, tip.ID.Version)
	r.sound(tip)
}
