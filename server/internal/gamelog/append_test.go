package gamelog

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game/replay"
)

// Ensure that an append stores an entry and the matching head, both with the same time from
// the store's clock.
func TestAppend(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx, gameID := t.Context(), name("a")
		clock, err := r.store.Time(ctx)
		require.NoError(t, err)

		tip := r.create(gameID, "classic")
		require.Equal(t, tip.State.CreateTime, tip.State.UpdateTime)
		assert.WithinRange(t, tip.State.CreateTime, clock.Truncate(time.Millisecond), clock.Add(time.Minute))
		r.sound(tip)
		for range 3 {
			before := tip
			tip = r.play(tip, 1)
			require.Equal(t, before.State.CreateTime, tip.State.CreateTime)
			require.False(t, tip.State.UpdateTime.Before(before.State.UpdateTime))
			r.sound(tip)
			record, found, err := r.log.At(ctx, gameID, tip.ID.Version)
			require.NoError(t, err)
			require.True(t, found)
			again, _, err := before.Apply(gameID, record, nil)
			require.NoError(t, err)
			assert.Equal(t, tip.ID, again.ID)
			equal(t, tip.State, again.State)
		}
		r.sound(r.append(r.draft(tip, replay.Entry{Seat: 0, Action: replay.Resigned{}})))
	})
}

// Ensure that a draft recognizes its own published entry, both before and after the reply to
// the append, and no other entry.
func TestDraft_Landed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		gameID := name("a")
		begun := r.create(gameID, "classic")
		own, other := r.draft(begun, moved(begun.State, 0)), r.draft(begun, moved(begun.State, 1))
		next := r.append(r.draft(begun, moved(begun.State, 0)))
		record, found, err := r.log.At(t.Context(), gameID, 2)
		require.NoError(t, err)
		require.True(t, found)

		_, _, landed := other.Landed(begun, record)
		assert.False(t, landed, "a different move")
		_, _, landed = own.Landed(next, record)
		assert.False(t, landed, "a different tip")
		tip, event, landed := own.Landed(begun, record)
		require.True(t, landed)
		assert.Equal(t, next.ID, tip.ID)
		equal(t, next.State, tip.State)
		assert.Same(t, tip.State, event.State)
		assert.Same(t, tip.State, r.append(own).State)
	})
}
