package benchtest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/ratio"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// players move at once, each in a game of its own and on a connection of its
// own, as people do.
const players = 500

// BenchmarkMoves compares acknowledged moves with bare unary calls.
func BenchmarkMoves(b *testing.B) {
	b.Run("500 players in 500 games", func(b *testing.B) {
		moves, sample := newPlayers(b, start(b))
		echoes := newEchoes(b, startBare(b, sample, false), sample)
		ratio.Compare(b, "moves/s", ratio.AtLeast(0.7),
			func() float64 { return perSecond(b, moves) },
			func() float64 { return perSecond(b, echoes) })
	})
}

// newPlayers makes players who have begun to play, and returns what each does
// next, and an event as an example of what they are answered.
func newPlayers(b *testing.B, address string) (moves []func() error, sample *pb.Event) {
	b.Helper()
	for i := range players {
		p := newPlayer(b, dial(b, address), fmt.Sprintf("player %d", i))
		require.NoError(b, p.move())
		moves, sample = append(moves, p.move), p.event
	}
	return moves, sample
}

// newEchoes makes as many callers of bare calls.
func newEchoes(b *testing.B, address string, sample *pb.Event) (echoes []func() error) {
	b.Helper()
	for range players {
		echoes = append(echoes, bareMove(dial(b, address), sample))
	}
	return echoes
}
