package twenty48_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/variants"
)

// BenchmarkMove plays the moves of one game of every variant over and over, with a stream of draws for
// each version, as the server does.
func BenchmarkMove(b *testing.B) {
	for _, v := range variants.All() {
		if v.Kind != game.Twenty48 {
			continue
		}
		var played []game.Position
		var moves []game.Move
		p := v.Rules.Start(seed(1).Draws(1))
		for version := int32(2); p.Turn() != game.NoSeat && len(played) < 500; version++ {
			played, moves = append(played, p), append(moves, p.LegalMoves()[0])
			var err error
			p, _, err = v.Rules.Move(p, 0, p.LegalMoves()[0], seed(1).Draws(version))
			require.NoError(b, err)
		}
		b.Run(v.ID, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				at := i % len(played)
				if _, _, err := v.Rules.Move(played[at], 0, moves[at], seed(1).Draws(int32(i))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
