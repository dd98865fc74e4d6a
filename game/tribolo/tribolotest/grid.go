// Package tribolotest implements Tribolo on a plain grid, following the text of the rules.
// Tests compare the fast board with it. Only tests import it.
package tribolotest

import (
	"cmp"
	"slices"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/tribolo"
)

// Grid is a plain board, indexed by x and then y.
type Grid [tribolo.Columns][tribolo.Rows]tribolo.Owner

// Of returns the grid with the given cells, row-major from the top left.
func Of(cells []tribolo.Owner) Grid {
	var g Grid
	for i, owner := range cells {
		g[i%tribolo.Columns][i/tribolo.Columns] = owner
	}
	return g
}

// at returns the owner of a cell. Outside the board it returns Wall, because the edge stops a jump
// just like a wall.
func (g *Grid) at(x, y int) tribolo.Owner {
	if x < 0 || x >= tribolo.Columns || y < 0 || y >= tribolo.Rows {
		return tribolo.Wall
	}
	return g[x][y]
}

var directions = [...]struct{ x, y int }{{-1, -1}, {-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, -1}, {1, 0}, {1, 1}}

// jump returns the number of cells that mover jumps over by moving to x, y, looking from there
// in the direction dx, dy. It returns 0 if there is no jump.
func (g *Grid) jump(mover tribolo.Owner, x, y, dx, dy int) int {
	opponent := g.at(x+dx, y+dy)
	if opponent == mover || opponent == tribolo.Empty || opponent == tribolo.Wall {
		return 0
	}
	n := 0
	for x, y = x+dx, y+dy; g.at(x, y) == opponent; x, y = x+dx, y+dy {
		n++
	}
	if g.at(x, y) != mover {
		return 0
	}
	return n
}

// Taken returns the cells that seat would jump over by moving to the given cell, ordered by x, then
// y.
func (g *Grid) Taken(seat int, to game.Cell) []game.Cell {
	var cells []game.Cell
	if g.at(int(to.X), int(to.Y)) != tribolo.Empty {
		return nil
	}
	for _, d := range directions {
		for i := range g.jump(tribolo.OwnerOf(seat), int(to.X), int(to.Y), d.x, d.y) {
			cells = append(cells, game.Cell{X: to.X + int32((i+1)*d.x), Y: to.Y + int32((i+1)*d.y)})
		}
	}
	slices.SortFunc(cells, func(a, b game.Cell) int { return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y)) })
	return cells
}

// Moves returns the destinations of seat's legal moves, ordered by x, then y.
func (g *Grid) Moves(seat int) (list []game.Cell) {
	mover := tribolo.OwnerOf(seat)
	for x := range g {
	cells:
		for y, owner := range g[x] {
			if owner != tribolo.Empty {
				continue
			}
			for _, d := range directions {
				if g.jump(mover, x, y, d.x, d.y) > 0 {
					list = append(list, game.Cell{X: int32(x), Y: int32(y)})
					continue cells
				}
			}
		}
	}
	return list
}

// Play moves seat to the given cell, and returns the number of cells taken, not counting the
// destination. If the rules forbid the move, it does nothing and returns 0.
func (g *Grid) Play(seat int, to game.Cell) int {
	x, y := int(to.X), int(to.Y)
	if g.at(x, y) != tribolo.Empty {
		return 0
	}
	mover := tribolo.OwnerOf(seat)
	taken := 0
	// No two directions share cells, so jumping in one direction after another is the same
	// as jumping in all of them at the same time.
	for _, d := range directions {
		n := g.jump(mover, x, y, d.x, d.y)
		for i := 1; i <= n; i++ {
			g[x+i*d.x][y+i*d.y] = mover
		}
		taken += n
	}
	if taken > 0 {
		g[x][y] = mover
	}
	return taken
}

// Next returns the seat that moves after mover, or game.NoSeat if no seat can move.
func (g *Grid) Next(mover int, resigned tribolo.SeatSet) int {
	for _, seat := range [][tribolo.Seats]int{{1, 2, 0}, {2, 0, 1}, {0, 1, 2}}[mover] {
		if !resigned.Has(seat) && len(g.Moves(seat)) > 0 {
			return seat
		}
	}
	return game.NoSeat
}
