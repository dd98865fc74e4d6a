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
