package jobs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
)

// Ensure that Listed requests a showcase if few games had events and showcases are enabled, and only
// then.
func TestManager_Listed(t *testing.T) {
	t.Parallel()
	requested := func(showcase bool, moving int) bool {
		m := &Manager{Config: Config{Showcase: showcase}}
		m.Listed(moving)
		return m.showcaseWanted.Load()
	}
	assert.True(t, requested(true, 0))
	assert.True(t, requested(true, fewGames))
	assert.False(t, requested(true, fewGames+1))
	assert.False(t, requested(false, 0))
}

// Ensure that a showcase has only bots of its variant in its seats, and that variants
// alternate.
func TestProgram(t *testing.T) {
	t.Parallel()
	for minute, want := range []string{"classic", "tribolo", "classic"} {
		created := program(time.Date(2026, 1, 2, 3, minute, 4, 0, time.UTC))
		assert.Equal(t, want, created.Variant)
		assert.Empty(t, created.Attempt)
		assert.False(t, replay.Rankable(created.Seats))
		variant, ok := variants.Lookup(created.Variant, created.Revision)
		require.True(t, ok)
		require.Len(t, created.Seats, variant.Seats)
		for _, seat := range created.Seats {
			assert.Contains(t, variant.Bots, seat.Bot)
		}
	}
}
