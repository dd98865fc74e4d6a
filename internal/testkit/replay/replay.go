// Package replaytest makes the first entries of games. Only tests import it.
package replaytest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
)

// Seed returns the seed that consists of the given first byte followed by zeros.
func Seed(t testing.TB, first byte) game.Seed {
	t.Helper()
	b := make([]byte, game.SeedSize)
	b[0] = first
	s, err := game.SeedFromBytes(b)
	require.NoError(t, err)
	return s
}

// Created returns the entry with which a player creates a game of a variant, with bots in all
// other seats.
func Created(t testing.TB, variant string, creator replay.Player, s game.Seed) replay.Created {
	t.Helper()
	v, ok := variants.Current(variant)
	require.True(t, ok)
	seats := slices.Repeat([]replay.Seat{{Bot: "greedy"}}, v.Seats)
	seats[0] = replay.Seat{Player: creator}
	return replay.Created{
		Variant: v.ID, Revision: v.Revision, Creator: creator, Seats: seats, Commitment: s.Commitment(),
	}
}
