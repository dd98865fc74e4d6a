package benchtest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/ratio"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// players move at once, each in a game of its own.
const players = 500

// BenchmarkMoves compares acknowledged moves with bare unary calls.
func BenchmarkMoves(b *testing.B) {
	conn := dial(b, start(b))
	var moves []func() error
	var sample *pb.Event
	for i := range players {
		p := newPlayer(b, conn, fmt.Sprintf("player %d", i))
		require.NoError(b, p.move())
		sample = p.event
		moves = append(moves, p.move)
	}
	echo := bareMove(dial(b, startBare(b, sample, false)), sample)
	echoes := slices.Repeat([]func() error{echo}, players)
	ratio.Compare(b, "moves/s", ratio.AtLeast(0.7),
		func() float64 { return perSecond(b, moves) },
		func() float64 { return perSecond(b, echoes) })
}
