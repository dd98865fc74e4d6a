package variants_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
	"github.com/gridstand/gridstand/game/variants"
)

// countingSeed is the seed 000102…1f, for which the rules give vectors.
func countingSeed(t *testing.T) game.Seed {
	t.Helper()
	b := make([]byte, game.SeedSize)
	for i := range b {
		b[i] = byte(i)
	}
	s, err := game.SeedFromBytes(b)
	require.NoError(t, err)
	return s
}

// TestStartBoards pins the boards that every other program which follows the
// rules has to begin with, given the same seed.
func TestStartBoards(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]map[int]int32{
		"classic":  {0: 2, 3: 4},
		"twos":     {10: 2},
		"restless": {0: 2, 12: 2},
		"vt100":    {0: 2, 3: 2},
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			v, ok := variants.Current(id)
			require.True(t, ok)
			got := map[int]int32{}
			for i, face := range v.Rules.Start(countingSeed(t).Draws(1)).(*twenty48.Position).Tiles() {
				if face != 0 {
					got[i] = face
				}
			}
			assert.Equal(t, want, got)
		})
	}
}
