package variants_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
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
