package variants_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
)

// TestPerft counts the games of one and of two moves from the start board of the counting seed,
// with every tile that could spawn, like the perft test of a chess engine. The expected numbers
// come from an independent program, written only from the rules.
func TestPerft(t *testing.T) {
	t.Parallel()
	for id, want := range map[string][2]int{
		"classic":  {84, 8008},
		"twos":     {60, 3240},
		"restless": {116, 12848},
		"vt100":    {88, 8868},
		"3x3":      {42, 1764},
		"5x5":      {184, 31080},
		"6x6":      {272, 69284},
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			r := rules(t, id)
			start := r.Start(countingSeed(t).Draws(1)).(*twenty48.Position)
			d := countingSeed(t).Draws(2)
			for i := range want {
				assert.Equalf(t, want[i], perft(t, r, start, d, i+1), "%d moves", i+1)
			}
		})
	}
}

// perft returns the number of ways to play the given number of moves from p. It discards the tile
// that Move draws from d, and tries every possible tile instead.
func perft(t *testing.T, r *twenty48.Rules, p *twenty48.Position, d *game.Draws, moves int) int {
	t.Helper()
	values := []int32{2, 4}
	if r.Config().FoursIn == 0 {
		values = values[:1]
	}
	count := 0
	for _, m := range p.LegalMoves() {
		next, change, err := r.Move(p, 0, m, d)
		require.NoError(t, err)
		faces := slid(next, change)
		if moves == 1 {
			count += len(empties(faces)) * len(values)
			continue
		}
		for _, cell := range empties(faces) {
			for _, value := range values {
				faces[cell] = value
				q, err := r.Position(faces, 0, 0)
				require.NoError(t, err)
				count += perft(t, r, q, d, moves-1)
			}
			faces[cell] = 0
		}
	}
	return count
}
