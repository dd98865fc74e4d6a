// Package replaytest makes and compares games. Only tests import it.
package replaytest

import (
	"math/rand/v2"
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

// Life returns all events of a random, finished game that begins at the given time, with players, bots,
// open seats, undos, clocks and resignations.
func Life(t testing.TB, variant string, at time.Time, random *rand.Rand) (events []*replay.Event) {
	t.Helper()
	v, ok := variants.Current(variant)
	require.True(t, ok)
	ada, bob := replay.Player{ID: "adaadaadaadaadaadaadaadaad", Name: "ada"}, replay.Player{ID: "bobbobbobbobbobbobbobbobbo", Name: "bob"}
	seats := make([]replay.Seat, v.Seats)
	for i := range seats {
		seats[i] = []replay.Seat{{Player: ada}, {Player: ada}, {Player: bob}, {Bot: "greedy"}, {}}[random.IntN(5)]
	}
	raw := make([]byte, game.SeedSize)
	for i := range raw {
		raw[i] = byte(random.Uint32())
	}
	seed, err := game.SeedFromBytes(raw)
	require.NoError(t, err)
	e, err := replay.Start("gamegamegamegamegamegamega", replay.Entry{Seat: game.NoSeat, Action: replay.Created{
		Variant: v.ID, Revision: v.Revision, Creator: ada, Commitment: seed.Commitment(), Seats: seats,
		TurnLimit: time.Duration(random.IntN(2)) * time.Minute, Private: random.IntN(2) == 0,
	}}, seed, at)
	require.NoError(t, err)
	happens := func(next *replay.Event) { e, events = next, append(events, next) }
	happens(e)
	for steps := 0; e.State.Status != replay.Finished; steps++ {
		at = at.Add(time.Duration(random.IntN(20)) * time.Second)
		s := e.State
		entry := replay.Entry{Seat: s.Turn()}
		switch n := random.IntN(40); {
		case n == 0 && steps > 20, steps > 300:
			entry.Seat, entry.Action = random.IntN(v.Seats), replay.Resigned{}
			if s.Status == replay.Waiting {
				entry.Seat, entry.Action = game.NoSeat, replay.Abandoned{}
			}
		case n < 4:
			entry.Seat, entry.Action = random.IntN(v.Seats), replay.Joined{Player: []replay.Player{ada, bob}[n%2]}
		case n == 4 && !s.Deadline().IsZero():
			entry.Action = replay.ClockExtended{By: time.Second + time.Millisecond}
		case n == 5 && !s.Deadline().IsZero():
			entry.Action = replay.TimedOut{StandIn: map[bool]string{false: "greedy"}[s.LastHuman(entry.Seat)]}
			if s.LastHuman(entry.Seat) && steps < 50 {
				continue
			}
			at = s.Deadline()
		case n < 8:
			past := events[random.IntN(len(events))].State
			if n == 6 && s.UndoTo > 0 {
				past = events[s.UndoTo-1].State
			}
			next, err := s.Undo(replay.Entry{Seat: random.IntN(v.Seats), Action: replay.Undone{To: past.Version}}, past, at)
			if err == nil {
				happens(next)
			}
			continue
		default:
			legal := s.LegalMoves()
			if len(legal) == 0 {
				continue
			}
			byBot := !s.Seats[entry.Seat].Held() || random.IntN(50) == 0
			entry.Action = replay.Moved{Move: legal[random.IntN(len(legal))], ByBot: byBot}
		}
		if next, err := s.Apply(entry, at); err == nil {
			happens(next)
		}
	}
	return events
}
