package jobs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
)

// Ensure that Listed requests one showcase if few games had events and showcases are enabled, and
// otherwise requests none.
func TestManager_Listed(t *testing.T) {
	t.Parallel()
	requested := func(showcase bool, moving int) int {
		m := &Manager{Config: Config{Showcase: showcase}, showcaseWanted: make(chan struct{}, 1)}
		for range 3 {
			m.Listed(moving)
		}
		return len(m.showcaseWanted)
	}
	assert.Equal(t, 1, requested(true, 0))
	assert.Equal(t, 1, requested(true, fewGames))
	assert.Equal(t, 0, requested(true, fewGames+1))
	assert.Equal(t, 0, requested(false, 0))
}

// Ensure that a showcase has only bots of its variant in its seats, and that variants
// alternate.
func TestProgram(t *testing.T) {
	t.Parallel()
	for minute, want := range []string{"classic", "tribolo", "classic"} {
		created := program(time.Date(2026, 1, 2, 3, minute, 4, 0, time.UTC))
		assert.Equal(t, want, created.Variant)
		assert.True(t, created.Exhibition())
		assert.False(t, replay.Rankable(created.Seats))
		variant, ok := variants.Lookup(created.Variant, created.Revision)
		require.True(t, ok)
		require.Len(t, created.Seats, variant.Seats)
		for _, seat := range created.Seats {
			assert.Contains(t, variant.Bots, seat.Bot)
		}
	}
}
