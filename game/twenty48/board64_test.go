package twenty48_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
)

// pack does what Position.Board64 does, for boards that need not belong to a game.
func pack(cells []uint8) twenty48.Board64 {
	var b twenty48.Board64
	for i, e := range cells {
		b |= twenty48.Board64(e) << (4 * i)
	}
	return b
}

// randomCells fills a 4×4 board with tiles of up to 16,384. It uses either a few values, so that
// many tiles merge, or all of them, and leaves either many gaps or none.
func randomCells(random *rand.Rand) []uint8 {
	cells := make([]uint8, 16)
	kinds, first, gaps := 1+random.IntN(14), random.IntN(14), random.Float64()
	for i := range cells {
		if random.Float64() < gaps {
			continue
		}
		cells[i] = uint8(1 + (first+random.IntN(kinds))%14)
	}
	return cells
}

func TestBoard64_SlidesAsAnyBoard(t *testing.T) {
	t.Parallel()
	s := twenty48.NewSlider()
	random := rand.New(rand.NewPCG(1, 2))
	// The loop avoids assert, which would take most of the time.
	for range 50_000 {
		cells := randomCells(random)
		b := pack(cells)
		changing := twenty48.Grid{Columns: 4, Cells: cells}.Changing()
		for _, d := range everyDirection {
			slid := twenty48.Grid{Columns: 4, Cells: slices.Clone(cells)}
			slid.Slide(d)
			got := s.Slide(b, d)
			if got != pack(slid.Cells) {
				require.Failf(t, "the engines differ", "%v slid %s: %016x, not %016x", cells, d, got, pack(slid.Cells))
			}
			if (got != b) != changing.Has(d) {
				require.Failf(t, "the engines differ", "%v slid %s: the engines disagree on whether it changes", cells, d)
			}
		}
		empty := 0
		for i, e := range cells {
			if e == 0 {
				empty++
			}
			if (b.Empty()>>(4*i)&15 == 1) != (e == 0) || !b.Has(e) && e > 0 {
				require.Failf(t, "a cell is misread", "cell %d of %v", i, cells)
			}
		}
		for e := uint8(1); e < 16; e++ {
			if b.Has(e) != slices.Contains(cells, e) {
				require.Failf(t, "a tile is misread", "2^%d on %v", e, cells)
			}
		}
		require.Equal(t, empty, b.Empty().Count())
	}
}

func TestBoard64_OfPosition(t *testing.T) {
	t.Parallel()
	_, p := position(t, classic(4, 4), "2 4 . . / . . . . / . . . . / . . 8 16384")
	b, ok := p.Board64()
	assert.True(t, ok)
	assert.Equal(t, twenty48.Board64(0xe300_0000_0000_0021), b)

	_, p = position(t, classic(4, 4), "2 4 . . / . . . . / . . . . / . . 8 32768")
	_, ok = p.Board64()
	assert.False(t, ok, "a tile of 32,768 is refused")

	_, p = position(t, classic(3, 4), "2 4 . . / . . . . / . . . .")
	_, ok = p.Board64()
	assert.False(t, ok, "another size")
}

func TestBoard64_LargestTile(t *testing.T) {
	t.Parallel()
	s := twenty48.NewSlider()
	slid := s.Slide(0xeef, game.Left)
	assert.Equal(t, twenty48.Board64(0xff), slid)
	assert.Equal(t, twenty48.Board64(0xff), s.Slide(slid, game.Left), "two full nibbles do not merge")
}
