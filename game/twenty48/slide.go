package twenty48

import (
	"math/bits"

	"github.com/gridstand/gridstand/game"
)

// A board is stored as one exponent per cell, row-major: 0 for an empty cell and n for a tile
// that shows 2ⁿ.

// MaxExponent is the exponent of MaxTile. It keeps every face value within an int32. Two such
// tiles do not merge, but no game gets that far, because it would take hundreds of millions of
// moves.
const MaxExponent = 30

// MaxTile is the largest face value of a tile.
const MaxTile int32 = 1 << MaxExponent

// exponentOf returns n for a face value of 2ⁿ and 0 for an empty cell. It returns false for any
// other value.
func exponentOf(face int32) (uint8, bool) {
	if face == 0 {
		return 0, true
	}
	if face < 2 || face > MaxTile || face&(face-1) != 0 {
		return 0, false
	}
	return uint8(bits.TrailingZeros32(uint32(face))), true
}

// faceOf returns the face value for an exponent.
func faceOf(exponent uint8) int32 {
	if exponent == 0 {
		return 0
	}
	return 1 << exponent
}

// slide slides all tiles in direction d, modifying cells in place. It returns the sum of the
// face values of all tiles created by merges.
func slide(cells []uint8, columns int, d game.Direction) int64 {
	rows := len(cells) / columns
	// A line begins at the edge toward which tiles move. first is the first cell of line 0,
	// next is the distance between lines, and step is the distance between cells along a line.
	var first, next, step, lines, length int
	switch d {
	case game.Up:
		first, next, step, lines, length = 0, 1, columns, columns, rows
	case game.Down:
		first, next, step, lines, length = (rows-1)*columns, 1, -columns, columns, rows
	case game.Left:
		first, next, step, lines, length = 0, columns, 1, rows, columns
	case game.Right:
		first, next, step, lines, length = columns-1, columns, -1, rows, columns
	}
	var made int64
	for line := range lines {
		made += slideLine(cells, first+line*next, step, length)
	}
	return made
}

// slideLine moves the tiles of one line toward its first cell.
func slideLine(cells []uint8, first, step, length int) int64 {
	var made int64
	free := first // the next cell to fill; never beyond the cell being read
	open := false // the tile before free was not created by a merge in this move
	for i := range length {
		at := first + i*step
		e := cells[at]
		if e == 0 {
			continue
		}
		cells[at] = 0
		if last := free - step; open && cells[last] == e && e < MaxExponent {
			cells[last] = e + 1
			made += int64(faceOf(e + 1))
			open = false
			continue
		}
		cells[free] = e
		free += step
		open = true
	}
	return made
}

// Directions is a set of directions, one bit for each.
type Directions uint8

const allDirections = Directions(1<<game.Up | 1<<game.Down | 1<<game.Left | 1<<game.Right)

// Has reports whether d is in the set.
func (s Directions) Has(d game.Direction) bool { return s&(1<<d) != 0 }

// changing returns the directions in which a slide changes the board. A slide changes the board if
// some tile directly follows a gap or an equal tile, counting from the edge toward which tiles
// move.
func changing(cells []uint8, columns int) Directions {
	var s Directions
	compare := func(a, b uint8, towardsA, towardsB game.Direction) {
		switch {
		case a == b:
			if a != 0 && a < MaxExponent {
				s |= 1<<towardsA | 1<<towardsB
			}
		case a == 0:
			s |= 1 << towardsA
		case b == 0:
			s |= 1 << towardsB
		}
	}
	column := 0
	for i, e := range cells {
		if column++; column < columns {
			compare(e, cells[i+1], game.Left, game.Right)
		} else {
			column = 0
		}
		if below := i + columns; below < len(cells) {
			compare(e, cells[below], game.Up, game.Down)
		}
		if s == allDirections {
			break
		}
	}
	return s
}
