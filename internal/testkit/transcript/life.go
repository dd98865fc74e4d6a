// Package transcript generates transcripts that contain every kind of event, and altered
// transcripts, for testing programs that verify games.
package transcript

import (
	"iter"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
)

// All returns a transcript in the form that verifiers read.
func All(events []*pb.Event) iter.Seq2[*pb.Event, error] {
	return func(yield func(*pb.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Life returns all events of a random, finished game with players, bots, open seats, undos, clocks
// and resignations, and the game at each version.
func Life(t testing.TB, variant string, random *rand.Rand) ([]*pb.Event, []*pb.Game) {
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
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	e, err := replay.Start("gamegamegamegamegamegamega", replay.Entry{Seat: game.NoSeat, Action: replay.Created{
		Variant: v.ID, Revision: v.Revision, Commitment: seed.Commitment(), Seats: seats,
		TurnLimit: time.Duration(random.IntN(2)) * time.Minute, Private: random.IntN(2) == 0,
	}}, seed, at)
	require.NoError(t, err)
	var states []*replay.State
	var events []*pb.Event
	var games []*pb.Game
	happens := func(next *replay.Event) {
		e = next
		states, events = append(states, e.State), append(events, translate.Event(e))
		games = append(games, translate.Game(e.State, 0))
	}
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
			entry.Action = replay.ClockExtended{By: time.Second}
		case n == 5 && !s.Deadline().IsZero():
			entry.Action = replay.TimedOut{StandIn: map[bool]string{false: "greedy"}[s.LastHuman(entry.Seat)]}
			if s.LastHuman(entry.Seat) && steps < 50 {
				continue
			}
			at = s.Deadline()
		case n < 8:
			past := states[random.IntN(len(states))]
			if n == 6 && s.UndoTo > 0 {
				past = states[s.UndoTo-1]
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
	return events, games
}
