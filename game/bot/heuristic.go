package bot

import (
	"math"
	"sync"

	"github.com/gridstand/gridstand/game/twenty48"
)

// The worth of a board of 2048 is the sum of the worths of its rows and columns. The
// features and their weights are those of Robert Xiao's 2048-ai.
const (
	worthAlive    = 200_000 // a line's, so that any board is worth more than a lost game
	worthEmpty    = 270     // of each empty cell
	worthMerge    = 700     // of each tile that equals the one before it, and of the first such pair
	worthDisorder = -47     // of the fourth powers by which a line falls or rises, whichever is less
	worthTile     = -11     // of each tile's exponent to the power of 3.5: few large ones are better
)

// The powers of all exponents.
var power4, power35 = func() (fourth, threeAndAHalf [twenty48.MaxExponent + 1]float32) {
	for e := range fourth {
		fourth[e] = float32(math.Pow(float64(e), 4))
		threeAndAHalf[e] = float32(math.Pow(float64(e), 3.5))
	}
	return fourth, threeAndAHalf
}()

// lineWorth is the worth of the line of length cells that begins at first, step cells
// apart.
func lineWorth(cells []uint8, first, step, length int) float32 {
	var tiles, falls, rises float32
	empty, merges, run := 0, 0, 0
	previous := uint8(0) // the tile before; gaps do not count
	for i := range length {
		e := cells[first+i*step]
		tiles += power35[e]
		if e == 0 {
			empty++
		} else {
			if e == previous {
				run++
			} else if run > 0 {
				merges += 1 + run
				run = 0
			}
			previous = e
		}
		if i > 0 {
			if d := power4[cells[first+(i-1)*step]] - power4[e]; d > 0 {
				falls += d
			} else {
				rises -= d
			}
		}
	}
	if run > 0 {
		merges += 1 + run
	}
	return worthAlive + worthEmpty*float32(empty) + worthMerge*float32(merges) +
		worthDisorder*min(falls, rises) + worthTile*tiles
}

// gridWorth is the worth of a board of any size.
func gridWorth(g twenty48.Grid) float32 {
	var sum float32
	for first := 0; first < len(g.Cells); first += g.Columns {
		sum += lineWorth(g.Cells, first, 1, g.Columns)
	}
	for first := range g.Columns {
		sum += lineWorth(g.Cells, first, g.Columns, len(g.Cells)/g.Columns)
	}
	return sum
}

// rowWorths are the worths of all rows of four, a quarter of a megabyte that
// all searches share.
type rowWorths [1 << 16]float32

var newRowWorths = sync.OnceValue(func() *rowWorths {
	w := new(rowWorths)
	cells := make([]uint8, 4)
	for row := range w {
		for i := range cells {
			cells[i] = uint8(row >> (4 * i) & 15)
		}
		w[row] = lineWorth(cells, 0, 1, len(cells))
	}
	return w
})

// rows is the worth of the rows of b alone.
func (w *rowWorths) rows(b twenty48.Board64) float32 {
	return w[uint16(b)] + w[uint16(b>>16)] + w[uint16(b>>32)] + w[b>>48]
}

// board is the worth of b.
func (w *rowWorths) board(b twenty48.Board64) float32 { return w.rows(b) + w.rows(b.Transposed()) }
