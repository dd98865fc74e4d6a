package bot

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/internal/gametest"
	"github.com/gridstand/gridstand/game/tribolo"
	"github.com/gridstand/gridstand/game/twenty48"
	"github.com/gridstand/gridstand/game/variants"
)

var seed = gametest.Seed

// variant returns the current revision of a variant.
func variant(t testing.TB, id string) game.Variant {
	t.Helper()
	v, ok := variants.Current(id)
	require.Truef(t, ok, "no variant %s", id)
	return v
}

// seeded creates a bot with a fixed random source.
func seeded(t testing.TB, name string, v game.Variant, o Options) *bot {
	t.Helper()
	o.Source = rand.NewPCG(1, 2)
	b, err := New(name, v, o)
	require.NoError(t, err)
	return b.(*bot)
}

// choose returns the move that a seeded bot chooses.
func choose(t testing.TB, name string, v game.Variant, o Options, p game.Position) game.Move {
	t.Helper()
	m, err := seeded(t, name, v, o).Choose(t.Context(), p)
	require.NoError(t, err)
	return m
}

// startMeter returns a meter that is ready for one decision.
func startMeter(o Options) *meter { return newMeter(context.Background(), o, 1) }

// positions returns boards of a variant from all stages of a few games.
func positions(t testing.TB, v game.Variant, n int) []game.Position {
	t.Helper()
	var all []game.Position
	if v.Kind == game.Tribolo {
		for _, p := range positionsTribolo(t, n) {
			all = append(all, p)
		}
		return all
	}
	for _, p := range positions48(t, v, n) {
		all = append(all, p)
	}
	return all
}

// positions48 returns boards of a variant of 2048 from all stages of a few games. The games are
// played well enough to include crowded boards with large tiles.
func positions48(t testing.TB, v game.Variant, n int) []*twenty48.Position {
	t.Helper()
	player := seeded(t, "expectimax", v, Options{Depth: 1})
	if v.Rows > 4 {
		player = seeded(t, "rote", v, Options{}) // fast, and strong enough to reach such boards
	}
	other := seeded(t, "random", v, Options{})
	random := rand.New(rand.NewPCG(1, 2))
	var all []*twenty48.Position
	for g := byte(0); len(all) < n; g++ {
		require.Less(t, g, byte(255), "too few positions")
		p := v.Rules.Start(seed(g).Draws(1))
		for version := int32(2); p.Turn() != game.NoSeat && len(all) < n; version++ {
			if random.IntN(15) == 0 {
				all = append(all, p.(*twenty48.Position))
			}
			by := player
			if random.IntN(20) == 0 {
				by = other
			}
			m, err := by.Choose(t.Context(), p)
			require.NoError(t, err)
			p, _, err = v.Rules.Move(p, 0, m, seed(g).Draws(version))
			require.NoError(t, err)
		}
	}
	return all
}

// board48 returns a position with the given face values, row by row.
func board48(t testing.TB, v game.Variant, moves int32, tiles ...int32) *twenty48.Position {
	t.Helper()
	p, err := v.Rules.(*twenty48.Rules).Position(tiles, 0, moves)
	require.NoError(t, err)
	return p
}

// positionsTribolo returns boards from all stages of a few random games. In some of them a seat
// has resigned.
func positionsTribolo(t testing.TB, n int) []*tribolo.Position {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	rules := tribolo.New()
	var all []*tribolo.Position
	for g := byte(0); len(all) < n; g++ {
		p := rules.Start(seed(g).Draws(1))
		for p.Turn() != game.NoSeat && len(all) < n {
			if random.IntN(20) == 0 {
				all = append(all, p.(*tribolo.Position))
			}
			if g%3 == 2 && p.MoveCount() == 30 {
				p = rules.Resign(p, random.IntN(tribolo.Seats))
			}
			moves := p.LegalMoves()
			var err error
			p, _, err = rules.Move(p, p.Turn(), moves[random.IntN(len(moves))], nil)
			require.NoError(t, err)
		}
	}
	return all
}
