package twenty48

import "github.com/gridstand/gridstand/game"

// Grid is a bare board of any size, for search programs. It has no score and no odds, and is
// modified in place. It slides and spawns with the same code as the rules.
type Grid struct {
	// Columns is the number of columns of the board, at least 1.
	Columns int
	// Cells holds the cells, row-major from the top left: 0 for an empty cell and n for a tile
	// of 2ⁿ, where n is at most MaxExponent. The number of cells is a multiple of Columns.
	Cells []uint8
}

// Grid returns a copy of the board.
func (p *Position) Grid() Grid {
	return Grid{Columns: p.columns, Cells: append([]uint8(nil), p.cells...)}
}

// Slide slides all tiles in direction d and returns the sum of the face values of all tiles
// created by merges.
func (g Grid) Slide(d game.Direction) int64 { return slide(g.Cells, g.Columns, d) }

// Spawn puts a tile into a random empty cell, as the rules do. There must be an empty cell. One
// in foursIn tiles is a 4, or none if foursIn is 0.
func (g Grid) Spawn(foursIn int, d Drawer) { spawn(g.Cells, foursIn, d) }

// Drawer is a source of random numbers: game.Draws, or a faster one for trial games.
type Drawer interface {
	// Draw returns a number from 0 to n−1, each equally likely.
	Draw(n int) int
}

// Changing returns the directions in which a slide changes the board.
func (g Grid) Changing() Directions { return changing(g.Cells, g.Columns) }

// Legal returns the legal directions, or none if the game has ended. It is LegalMoves as a set,
// which allocates nothing.
func (p *Position) Legal() Directions { return p.legal }
