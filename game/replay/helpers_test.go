package replay_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/internal/gametest"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
)

var (
	seed  = gametest.Seed
	board = gametest.Bytes
)

// at returns the time that is the given number of seconds after the start of a game.
func at(second int) time.Time { return time.Unix(int64(second), 0).UTC() }

var (
	ann = replay.Player{ID: "ann", Name: "Ann"}
	bob = replay.Player{ID: "bob", Name: "Bob"}
	eve = replay.Player{ID: "eve", Name: "Eve"}
	// deep is a program's account.
	deep = replay.Player{ID: "deep", Name: "Deep", Bot: true}
)

// created returns the entry with which Ann creates a game of a variant for herself, with bots
// in the remaining seats.
func created(t testing.TB, variant string, s game.Seed) replay.Created {
	t.Helper()
	v, ok := variants.Current(variant)
	require.True(t, ok)
	seats := slices.Repeat([]replay.Seat{{Bot: "greedy"}}, v.Seats)
	seats[0] = replay.Seat{Player: ann}
	return replay.Created{
		Variant: v.ID, Revision: v.Revision, Creator: ann, Seats: seats, Commitment: s.Commitment(),
	}
}

// begin starts the game that c creates.
func begin(t testing.TB, c replay.Created, s game.Seed) *replay.State {
	t.Helper()
	event, err := replay.Start("g", replay.Entry{Seat: game.NoSeat, Action: c}, s, at(1))
	require.NoError(t, err)
	return event.State
}

// apply applies a valid entry, one second after the last.
func apply(t testing.TB, s *replay.State, seat int, a replay.Action) *replay.State {
	t.Helper()
	event, err := s.Apply(replay.Entry{Seat: seat, Action: a}, s.UpdateTime.Add(time.Second))
	require.NoError(t, err)
	return event.State
}

// playOut keeps playing the first legal move until the game is over.
func playOut(t testing.TB, s *replay.State) *replay.State {
	t.Helper()
	for s.Status != replay.Finished {
		s = apply(t, s, s.Turn(), replay.Moved{Move: s.LegalMoves()[0], ByBot: !s.Seats[s.Turn()].Held()})
	}
	return s
}
