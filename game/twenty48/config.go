// Package twenty48 plays 2048, the sliding-tile game by Gabriele Cirulli, and
// the versions of it that others made. One engine plays them all: what differs
// from version to version is a small Config, and a board may have any size.
//
// Everything here is a pure function. What is random comes from the game.Draws
// that the caller passes in, so the same moves with the same seed give the same
// game on every machine.
package twenty48

import "fmt"

// Start says which tiles lie on the board before the first move.
type Start uint8

const (
	// StartSpawned puts two tiles on the board, one after the other, each
	// spawned as after a move: as in Cirulli's original.
	StartSpawned Start = iota + 1
	// StartTwoTwos draws the cells of two tiles but not their values, which
	// are both 2: as in the Python/Tkinter version.
	StartTwoTwos
	// StartMiddleTwo puts one 2 into the cell half-way down and half-way
	// right, which is row 2 and column 2 (from 0) of a 4×4 board, and draws
	// nothing: as in the ClojureScript version.
	StartMiddleTwo
)

// The sizes of a board that can be played. Two is the smallest side on which
// tiles can move both ways; the largest is what a byte of the encoding holds.
const (
	MinSide = 2
	MaxSide = 255
)

// Config is all that sets one version of 2048 apart from another.
type Config struct {
	// Rows and Columns of the board, each from MinSide to MaxSide.
	Rows, Columns int

	// Start says which tiles lie on the board before the first move.
	Start Start

	// FoursIn is the odds of a spawned 4: one spawned tile in FoursIn is a 4
	// and the others are a 2. Where it is 0 there are only 2s, and nothing is
	// drawn to decide it.
	FoursIn int

	// Goal is the face value of the tile to make, a power of two from 8 to
	// MaxTile. A position that holds it, or a greater one, has reached the
	// goal.
	Goal int32

	// EndsAtGoal ends the game, won, with the move that makes the goal.
	// Without it a made goal is remembered and play goes on.
	EndsAtGoal bool

	// SpawnsAfterGoal lets a tile spawn after the move that ends the game at
	// the goal, as after any other. It means nothing without EndsAtGoal.
	SpawnsAfterGoal bool

	// HalfScore makes a merge worth half of the merged tile's value, which is
	// the value of one of the two that merged. Otherwise it is worth all of it.
	HalfScore bool

	// IdleMoves allows a move that changes nothing, as long as there is an
	// empty cell for the tile that spawns after it: as in the Python/Tkinter
	// version, which never looks whether anything moved.
	IdleMoves bool
}

// Validate returns nil when c can be played, else an error that names the
// field that is out of range.
func (c Config) Validate() error {
	switch {
	case c.Rows < MinSide || c.Rows > MaxSide:
		return fmt.Errorf("rows: %d is not from %d to %d", c.Rows, MinSide, MaxSide)
	case c.Columns < MinSide || c.Columns > MaxSide:
		return fmt.Errorf("columns: %d is not from %d to %d", c.Columns, MinSide, MaxSide)
	case c.Start < StartSpawned || c.Start > StartMiddleTwo:
		return fmt.Errorf("start: %d is none of the ways to start", c.Start)
	case c.FoursIn < 0:
		return fmt.Errorf("fours in: %d is negative", c.FoursIn)
	}
	// Below 8 a spawned tile could be the goal, which no player would have made.
	if e, ok := exponentOf(c.Goal); !ok || e < 3 {
		return fmt.Errorf("goal: %d is not a power of two from 8 to %d", c.Goal, MaxTile)
	}
	return nil
}
