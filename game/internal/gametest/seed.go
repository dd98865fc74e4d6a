// Package gametest makes the seeds of games and encodes positions. Only tests import it.
package gametest

import (
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
)

// Seed returns one of 256 fixed seeds: the given first byte followed by zeros.
func Seed(first byte) game.Seed { return SeedOf([]byte{0: first, game.SeedSize - 1: 0}) }

// CountingSeed returns the seed 000102…1f, for which the rules list test vectors.
func CountingSeed() game.Seed {
	b := make([]byte, game.SeedSize)
	for i := range b {
		b[i] = byte(i)
	}
	return SeedOf(b)
}

// SeedOf returns the seed with the given bytes.
func SeedOf(b []byte) game.Seed {
	s, err := game.SeedFromBytes(b)
	if err != nil {
		panic(err)
	}
	return s
}

// Bytes returns the encoding of a position.
func Bytes(t require.TestingT, p game.Position) []byte {
	b, err := p.AppendBinary(nil)
	require.NoError(t, err)
	return b
}
