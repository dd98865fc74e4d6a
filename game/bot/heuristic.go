package bot

import (
	"math"
	"sync"

	"github.com/gridstand/gridstand/game/twenty48"
)

// The value of a 2048 board is the sum of the values of its rows and columns. The features and
// their weights come from Robert Xiao's 2048-ai.
const (
	worthAlive    = 200_000 // per line, so that any board is worth more than a lost game
	worthEmpty    = 270     // per empty cell
	worthMerge    = 700     // per tile that equals the previous one, plus once per run of equal tiles
	worthDisorder = -47     // times the smaller of two sums along a line: decreases and increases of power4
	worthTile     = -11     // times each tile's exponent to the power of 3.5; favors few large tiles
)

// power4 and power35 hold every exponent raised to the 4th and to the 3.5th power.
var power4, power35 = func() (fourth, threeAndAHalf [twenty48.MaxExponent + 1]float32) {
	for e := range fourth {
		fourth[e] = float32(math.Pow(float64(e), 4))
		threeAndAHalf[e] = float32(math.Pow(float64(e), 3.5))
	}
	return fourth, threeAndAHalf
}()

// lineWorth returns the value of the line cells[first], cells[first+step], …, which has length
// cells.
func lineWorth(cells []uint8, first, step, length int) float32 {
	var tiles, falls, rises float32
	empty, merges, run := 0, 0, 0
	previous := uint8(0) // the previous tile, skipping empty cells
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

// gridWorth returns the value of a board of any size.
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

// rowWorths holds the values of all rows of four cells: 256 KiB that all searches share.
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

// rows returns the total value of b's rows.
func (w *rowWorths) rows(b twenty48.Board64) float32 {
	return w[uint16(b)] + w[uint16(b>>16)] + w[uint16(b>>32)] + w[b>>48]
}

// board returns the value of b.
func (w *rowWorths) board(b twenty48.Board64) float32 { return w.rows(b) + w.rows(b.Transposed()) }
