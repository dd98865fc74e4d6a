package variants_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
	"github.com/gridstand/gridstand/game/variants"
)

// countingSeed returns the seed 000102…1f, for which the rules list test vectors.
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

// rules returns the current rules of a variant of 2048.
func rules(t *testing.T, id string) *twenty48.Rules {
	t.Helper()
	v, ok := variants.Current(id)
	require.Truef(t, ok, "no variant %s", id)
	return v.Rules.(*twenty48.Rules)
}

// slid returns the board of p without the tile that spawned into it.
func slid(p game.Position, change game.Change) []int32 {
	faces := p.(*twenty48.Position).Tiles()
	if change.Spawned != nil {
		faces[change.Spawned.Index] = 0
	}
	return faces
}

// empties returns the indices of the empty cells.
func empties(faces []int32) []int32 {
	var cells []int32
	for i, face := range faces {
		if face == 0 {
			cells = append(cells, int32(i))
		}
	}
	return cells
}
