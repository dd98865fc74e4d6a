package gamelog

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
