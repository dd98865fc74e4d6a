package gamelog

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/store"
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

// Ensure that appending an overtaken draft returns the entry that overtook it and writes
// nothing.
func TestAppend_Conflict(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		gameID := name("a")
		tip := r.play(r.create(gameID, "classic"), 5)
		late, other := r.draft(tip, moved(tip.State, 0)), moved(tip.State, 1)
		next := r.append(r.draft(tip, other))

		conflict := r.refused(gameID, late)
		assert.Equal(t, next.ID, conflict.Last)
		r.stands(conflict, next.ID, other)

		end := r.play(next, 3)
		conflict = r.refused(gameID, late)
		assert.Equal(t, end.ID, conflict.Last)
		r.stands(conflict, next.ID, other)
		r.sound(end)
	})
}

// refused appends a draft and requires that it fails with a conflict.
func (r *rig) refused(gameID string, d *Draft) *store.ConflictError {
	r.t.Helper()
	var conflict *store.ConflictError
	r.unwritten(gameID, func() {
		_, err := r.log.Append(r.t.Context(), d)
		require.ErrorAs(r.t, err, &conflict)
	})
	return conflict
}

func (r *rig) stands(c *store.ConflictError, want store.ID, e replay.Entry) {
	r.t.Helper()
	require.NotNil(r.t, c.Standing)
	assert.Equal(r.t, want, c.Standing.ID)
	standing, err := EntryOf(*c.Standing)
	require.NoError(r.t, err)
	assert.True(r.t, e.Same(standing))
}

// Ensure that a draft takes effect once, however often and however late it is appended.
func TestAppend_Again(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		gameID := name("a")
		sd := seed(t, 1)
		first, err := NewGame(gameID, created(t, "classic", sd), sd)
		require.NoError(t, err)
		begun := r.append(first)
		second := r.draft(begun, moved(begun.State, 0))
		tip := r.append(second)
		shown := *tip.State
		for range 2 {
			r.unwritten(gameID, func() {
				again := r.append(first)
				equal(t, begun.State, again.State)
				again = r.append(second)
				assert.Equal(t, tip.ID, again.ID)
				equal(t, &shown, again.State)
			})
			r.play(tip, 3)
			tip = Tip{ID: tip.ID, State: tip.State}
		}
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

// Ensure that an entry is not appended before its notBefore time.
func TestAppend_Early(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		gameID := name("a")
		tip := r.create(gameID, "classic")
		entry := moved(tip.State, 0)
		early, err := tip.Draft(entry, time.Now().Add(time.Hour), nil)
		require.NoError(t, err)
		r.unwritten(gameID, func() {
			_, err := r.log.Append(t.Context(), early)
			require.ErrorIs(t, err, store.ErrTooEarly)
		})
		due, err := tip.Draft(entry, tip.State.UpdateTime, nil)
		require.NoError(t, err)
		r.sound(r.append(due))
	})
}
