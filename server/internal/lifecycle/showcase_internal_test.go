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

// Ensure that one showcase runs on all servers, whatever the limits, and another one
// when it has ended or was not renewed.
func TestExhibitions_RunShowcase(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
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
			assert.False(t, began, "it runs on")
		}
		require.NoError(t, there.end(ctx, "first"))
		began, err = there.runShowcase(ctx, "second", time.Millisecond)
		require.NoError(t, err)
		assert.True(t, began)
		require.Eventually(t, func() bool {
			began, err := here.runShowcase(ctx, "third", time.Minute)
			return err == nil && began
		}, 10*time.Second, time.Millisecond)
	})
}

// Ensure that a server is told once that clients find no game that moves, and only if
// it may begin one.
func TestManager_Listed(t *testing.T) {
	t.Parallel()
	told := func(showcase bool, moving int) int {
		m := &Manager{Config: Config{Showcase: showcase}}
		m.showcase = newShowcase(m)
		for range 3 {
			m.Listed([]*replay.State{{Creator: replay.Player{ID: "ann"}}}, moving)
		}
		return len(m.showcase.wanted)
	}
	assert.Equal(t, 1, told(true, 0))
	assert.Equal(t, 0, told(true, 1))
	assert.Equal(t, 0, told(false, 0))
}

// Ensure that a showcase has seats for bots of its variant, and that variants alternate.
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
