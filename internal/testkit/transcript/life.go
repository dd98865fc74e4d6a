// Package transcript generates transcripts that contain every kind of event, and altered
// transcripts, for testing programs that verify games.
package transcript

import (
	"iter"
	"math/rand/v2"
	"testing"
	"time"

	replaytest "github.com/gridstand/gridstand/internal/testkit/replay"
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
func Life(t testing.TB, variant string, random *rand.Rand) (events []*pb.Event, games []*pb.Game) {
	t.Helper()
	for _, e := range replaytest.Life(t, variant, time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), random) {
		events, games = append(events, translate.Event(e)), append(games, translate.Game(e.State, 0))
	}
	return events, games
}
