package tribolo_test

import (
	"cmp"
	"slices"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/tribolo"
)

// grid is a plain board, indexed by x and then y, that follows the text of the rules. Tests compare the
// fast board with it.
type grid [tribolo.Columns][tribolo.Rows]tribolo.Owner

// gridOf returns the grid with the given cells, row-major from the top left.
func gridOf(cells []tribolo.Owner) *grid {
	var g grid
	for i, owner := range cells {
		g[i%tribolo.Columns][i/tribolo.Columns] = owner
	}
	return &g
}

// at returns the owner of a cell. Outside the board it returns Wall, because the edge stops a jump
// just like a wall.
func (g *grid) at(x, y int32) tribolo.Owner {
	if x < 0 || x >= tribolo.Columns || y < 0 || y >= tribolo.Rows {
		return tribolo.Wall
	}
	return g[x][y]
}

// jump returns the cells that mover jumps over by moving to the given cell, looking from there in the
// direction dx, dy.
func (g *grid) jump(mover tribolo.Owner, to game.Cell, dx, dy int32) (over []game.Cell) {
	x, y := to.X+dx, to.Y+dy
	opponent := g.at(x, y)
	if opponent == mover || opponent == tribolo.Empty || opponent == tribolo.Wall {
		return nil
	}
	for ; g.at(x, y) == opponent; x, y = x+dx, y+dy {
		over = append(over, cell(x, y))
	}
	if g.at(x, y) != mover {
		return nil
	}
	return over
}

// taken returns the cells that seat would jump over by moving to the given cell, ordered by x, then y.
func (g *grid) taken(seat int, to game.Cell) []game.Cell {
	if g.at(to.X, to.Y) != tribolo.Empty {
		return nil
	}
	var cells []game.Cell
	for dx := int32(-1); dx <= 1; dx++ {
		for dy := int32(-1); dy <= 1; dy++ {
			cells = append(cells, g.jump(tribolo.OwnerOf(seat), to, dx, dy)...)
		}
	}
	slices.SortFunc(cells, func(a, b game.Cell) int { return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y)) })
	return cells
}

// moves returns the destinations of seat's legal moves, ordered by x, then y.
func (g *grid) moves(seat int) (list []game.Cell) {
	for x := range int32(tribolo.Columns) {
		for y := range int32(tribolo.Rows) {
			if len(g.taken(seat, cell(x, y))) > 0 {
				list = append(list, cell(x, y))
			}
		}
	}
	return list
}

// play moves seat to the given cell, and returns the number of cells taken, not counting the
// destination. If the rules forbid the move, it does nothing and returns 0.
func (g *grid) play(seat int, to game.Cell) int {
	taken := g.taken(seat, to)
	if len(taken) == 0 {
		return 0
	}
	for _, c := range append(taken, to) {
		g[c.X][c.Y] = tribolo.OwnerOf(seat)
	}
	return len(taken)
}

// next returns the seat that moves after mover, or game.NoSeat if no seat can move.
func (g *grid) next(mover int, resigned tribolo.SeatSet) int {
	for _, seat := range [][tribolo.Seats]int{{1, 2, 0}, {2, 0, 1}, {0, 1, 2}}[mover] {
		if !resigned.Has(seat) && len(g.moves(seat)) > 0 {
			return seat
		}
	}
	return game.NoSeat
}
