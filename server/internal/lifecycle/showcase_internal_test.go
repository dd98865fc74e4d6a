package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
	"github.com/gridstand/gridstand/server/limits"
)

// Ensure that at most one showcase runs on all servers, regardless of the limits, and that
// another one can run after it has ended or expired.
func TestExhibitions_RunShowcase(t *testing.T) {
	t.Parallel()
	storetest.EachClock(t, func(t *testing.T, s *store.Store, forward func(time.Duration)) {
		ctx, l := t.Context(), limits.Limits{BotGamesPerPlayer: 5, BotGamesPerAddress: 1, BotGamesPerStore: 1}
		here, there := exhibitionsOn(s, time.Hour, l), exhibitionsOn(s, time.Hour, l)
		_, err := here.run(ctx, "ann's", "ann", "::1")
		require.NoError(t, err)

		began, err := here.runShowcase(ctx, "first", time.Minute)
		require.NoError(t, err)
		assert.True(t, began)
		for _, e := range []*exhibitions{here, there} {
			_, err = e.runShowcase(ctx, "second", time.Minute)
			var full *limits.ExceededError
			require.ErrorAs(t, err, &full)
			began, err = e.run(ctx, "first", showcaseCreator, "::1")
			require.NoError(t, err)
			assert.False(t, began, "the showcase was already running")
		}
		require.NoError(t, there.end(ctx, "first"))
		began, err = there.runShowcase(ctx, "second", time.Minute)
		require.NoError(t, err)
		assert.True(t, began)
		forward(time.Minute)
		began, err = here.runShowcase(ctx, "third", time.Minute)
		require.NoError(t, err)
		assert.True(t, began)
	})
}

// Ensure that a showcase stops running so long before the last view is PauseAfter ago that it
// can end by then, and that it stays running while it is viewed.
func TestExhibitions_LapseShowcase(t *testing.T) {
	t.Parallel()
	storetest.EachClock(t, func(t *testing.T, s *store.Store, forward func(time.Duration)) {
		e := exhibitionsOn(s, time.Minute, limits.Limits{})
		running := func() bool {
			t.Helper()
			running, err := exhibitionsOn(s, time.Minute, limits.Limits{}).running(t.Context(), "a")
			require.NoError(t, err)
			return running
		}
		for range 2 {
			_, err := e.run(t.Context(), "a", showcaseCreator, "")
			require.NoError(t, err)
			forward(50 * time.Second)
			assert.True(t, running())
		}
		forward(5 * time.Second)
		assert.False(t, running())
	})
}

// Ensure that Listed requests one showcase if no game is being played, the list has no showcase
// and showcases are enabled, and otherwise requests none.
func TestManager_Listed(t *testing.T) {
	t.Parallel()
	requested := func(showcase bool, moving int, creator string) int {
		m := &Manager{Config: Config{Showcase: showcase}, showcaseWanted: make(chan struct{}, 1)}
		for range 3 {
			m.Listed([]*replay.State{{Creator: replay.Player{ID: creator}}}, moving)
		}
		return len(m.showcaseWanted)
	}
	assert.Equal(t, 1, requested(true, 0, "ann"))
	assert.Equal(t, 0, requested(true, 1, "ann"))
	assert.Equal(t, 0, requested(true, 0, showcaseCreator))
	assert.Equal(t, 0, requested(false, 0, "ann"))
}

// Ensure that a showcase has only bots of its variant in its seats, and that variants
// alternate.
func TestProgram(t *testing.T) {
	t.Parallel()
	var last *replay.State
	for _, want := range []string{"classic", "tribolo", "classic"} {
		created := program(last)
		assert.Equal(t, want, created.Variant)
		assert.True(t, created.Exhibition())
		assert.False(t, replay.Rankable(created.Seats))
		variant, ok := variants.Lookup(created.Variant, created.Revision)
		require.True(t, ok)
		require.Len(t, created.Seats, variant.Seats)
		for _, seat := range created.Seats {
			assert.Contains(t, variant.Bots, seat.Bot)
		}
		last = &replay.State{Variant: &variant}
	}
}
