// Package replaytest makes and compares games. Only tests import it.
package replaytest

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
)

// Seed returns the seed that consists of the given first byte followed by zeros.
func Seed(t testing.TB, first byte) game.Seed {
	t.Helper()
	s, err := game.SeedFromBytes([]byte{0: first, game.SeedSize - 1: 0})
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

// Tribolo returns the last event of a game of Tribolo with the given number of moves, each of which is the
// first legal one. The game began 4 minutes before now, and its last move was 12 s before.
func Tribolo(t testing.TB, id string, moves int, now time.Time, seats ...replay.Seat) *replay.Event {
	t.Helper()
	seed := Seed(t, 0)
	created := Created(t, "tribolo", seats[0].Player, seed)
	created.Seats = seats
	e, err := replay.Start(id, replay.Entry{Seat: game.NoSeat, Action: created}, seed, now.Add(-4*time.Minute))
	require.NoError(t, err)
	for range moves {
		s := e.State
		moved := replay.Moved{Move: s.LegalMoves()[0], ByBot: s.Seats[s.Turn()].Bot != ""}
		e, err = s.Apply(replay.Entry{Seat: s.Turn(), Action: moved}, now.Add(-12*time.Second))
		require.NoError(t, err)
	}
	return e
}

// Lasting returns a move that pushes tiles toward a corner, as people do, so that a game of 2048 does not
// end early. In other games, it returns the first legal move.
func Lasting(t testing.TB, s *replay.State) replay.Moved {
	t.Helper()
	legal := s.LegalMoves()
	require.NotEmpty(t, legal)
	move := legal[0]
	for _, d := range []game.Direction{game.Up, game.Right, game.Down, game.Left} {
		if slices.Contains(legal, game.Slide(d)) {
			move = game.Slide(d) // ends up as the last of these directions that is legal
		}
	}
	return replay.Moved{Move: move}
}

// Equal requires that two states are equal, except for the seed of a game in progress.
func Equal(t testing.TB, want, got *replay.State) {
	t.Helper()
	require.NotNil(t, got)
	bytes := func(s *replay.State) []byte {
		b, err := s.Position.AppendBinary(nil)
		require.NoError(t, err)
		return b
	}
	require.Equal(t, bytes(want), bytes(got))
	require.Equal(t, want.RevealedSeed().SeedBytes(), got.RevealedSeed().SeedBytes())
	plain := func(s *replay.State) replay.State {
		c, variant := *s.WithSeed(game.Seed{}), *s.Variant
		c.Position, c.Variant, variant.Rules = nil, &variant, nil
		return c
	}
	require.Equal(t, plain(want), plain(got))
}
