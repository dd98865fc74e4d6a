package twenty48

import "github.com/gridstand/gridstand/game"

// Grid is a board of any size outside of a game, for programs that search: it has no
// score and no odds, and is changed in place. It slides and spawns by the same code as
// the rules.
type Grid struct {
	// Columns of the board, at least 1.
	Columns int
	// Cells, row-major from the top left: 0 for an empty cell and n for a tile
	// of 2ⁿ, at most MaxExponent. Their number is a multiple of Columns.
	Cells []uint8
}

// Grid returns a copy of the board.
func (p *Position) Grid() Grid {
	return Grid{Columns: p.columns, Cells: append([]uint8(nil), p.cells...)}
}

// Slide moves all tiles towards d and returns the sum of the face values of
// all tiles that a merge made.
func (g Grid) Slide(d game.Direction) int64 { return slide(g.Cells, g.Columns, d) }

// Spawn puts a tile into an empty cell, of which there must be one, as the rules do:
// one in foursIn is a 4, none if that is 0.
func (g Grid) Spawn(foursIn int, d Drawer) { spawn(g.Cells, foursIn, d) }

// Drawer draws random numbers: game.Draws, or a faster source for trial games.
type Drawer interface {
	// Draw returns a number from 0 to n−1, each equally likely.
	Draw(n int) int
}

// Changing returns the directions in which a slide changes the board.
func (g Grid) Changing() Directions { return changing(g.Cells, g.Columns) }

// Legal returns the legal directions, none if the game has ended: LegalMoves as a set,
// which allocates nothing.
func (p *Position) Legal() Directions { return p.legal }
