// Package twenty48 implements 2048, the sliding-tile game by Gabriele Cirulli, and versions of
// it by others. One engine plays them all: they differ in a small Config, and boards may have
// any size.
//
// All functions are pure. Random numbers come from the game.Draws that the caller passes, so
// the same moves with the same seed give the same game on every machine.
package twenty48

// Start selects how the initial tiles are placed.
type Start uint8

const (
	// StartSpawned places two tiles, one after the other, each spawned as after a move. This is
	// what Cirulli's original does.
	StartSpawned Start = iota + 1
	// StartTwoTwos places two 2s in random cells. This is what the Python/Tkinter version does.
	StartTwoTwos
	// StartMiddleTwo places one 2 in the cell halfway down and halfway to the right, which is
	// row 2 and column 2 (from 0) of a 4×4 board, and draws nothing. This is what the
	// ClojureScript version does.
	StartMiddleTwo
)

// Config holds the differences between versions of 2048.
type Config struct {
	// Rows and Columns are the size of the board, each from 2 to 255, which fits in the one byte that
	// the encoding has for it.
	Rows, Columns int

	// Start selects how the initial tiles are placed.
	Start Start

	// FoursIn sets the odds of a spawned 4: one in FoursIn spawned tiles is a 4, the others are
	// 2s. If FoursIn is 0, all spawned tiles are 2s, and nothing is drawn to decide.
	FoursIn int

	// Goal is the face value of the tile to reach, a power of two from 8 to MaxTile. A position
	// with this tile or a greater one has reached the goal.
	Goal int32

	// EndsAtGoal ends the game, as won, with the move that reaches the goal. Otherwise the game
	// records that the goal was reached, and continues.
	EndsAtGoal bool

	// SpawnsAfterGoal lets a tile spawn after the move that ends the game at the goal, as after
	// any other move. It has no effect without EndsAtGoal.
	SpawnsAfterGoal bool

	// HalfScore makes a merge score half of the new tile's value. Otherwise a merge scores the
	// full value.
	HalfScore bool

	// IdleMoves allows a move that changes nothing if there is an empty cell for the tile that
	// spawns after it. The Python/Tkinter version allows it because it never checks whether
	// anything moved.
	IdleMoves bool
}
