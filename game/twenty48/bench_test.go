package twenty48_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/variants"
)

// BenchmarkMove plays the moves of one game of every variant over and over. The case "served"
// creates a stream for each version, as the server does. The case "engine" draws everything
// from one stream, so that board operations take up a larger share of the time.
func BenchmarkMove(b *testing.B) {
	for _, v := range variants.All() {
		if v.Kind != game.Twenty48 {
			continue
		}
		var played []game.Position
		p := v.Rules.Start(seed(1).Draws(1))
		for version := int32(2); p.Turn() != game.NoSeat && len(played) < 500; version++ {
			played = append(played, p)
			var err error
			p, _, err = v.Rules.Move(p, 0, p.LegalMoves()[0], seed(1).Draws(version))
			require.NoError(b, err)
		}
		for _, mode := range []string{"engine", "served"} {
			b.Run(v.ID+"/"+mode, func(b *testing.B) {
				b.ReportAllocs()
				moves := make([]game.Move, len(played))
				for i, p := range played {
					moves[i] = p.LegalMoves()[0]
				}
				d := seed(1).Draws(1)
				for i := 0; b.Loop(); i++ {
					if mode == "served" {
						d = seed(1).Draws(int32(i))
					}
					at := i % len(played)
					if _, _, err := v.Rules.Move(played[at], 0, moves[at], d); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
