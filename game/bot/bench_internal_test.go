package bot

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkExpectimax searches boards from all stages of classic games.
func BenchmarkExpectimax(b *testing.B) {
	b.ReportAllocs()
	v := variant(b, "classic")
	ps := positions48(b, v, 50)
	expectimax := seeded(b, "expectimax", v, Options{Depth: 2})
	for b.Loop() {
		for _, p := range ps {
			_, err := expectimax.Choose(b.Context(), p)
			require.NoError(b, err)
		}
	}
}

// BenchmarkMinimax chooses moves for positions from all stages of Tribolo games, looking three moves
// ahead.
func BenchmarkMinimax(b *testing.B) {
	b.ReportAllocs()
	ps := positionsTribolo(b, 50)
	minimax := seeded(b, "minimax", variant(b, "tribolo"), Options{Depth: 3})
	for b.Loop() {
		for _, p := range ps {
			_, err := minimax.Choose(b.Context(), p)
			require.NoError(b, err)
		}
	}
}
