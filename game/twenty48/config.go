// Package twenty48 plays 2048, the sliding-tile game by Gabriele Cirulli, and versions
// of it by others. One engine plays them all: they differ in a small Config, and a board
// may have any size.
//
// All functions are pure. Random numbers come from the game.Draws that the caller
// passes, so the same moves with the same seed give the same game on every machine.
package twenty48

import "fmt"

// Start is how the tiles before the first move are chosen.
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

// The sides of a board. Two is the smallest on which tiles can move both ways; the
// largest fits into a byte of the encoding.
const (
	MinSide = 2
	MaxSide = 255
)

// Config is what differs between versions of 2048.
type Config struct {
	// Rows and Columns of the board, each from MinSide to MaxSide.
	Rows, Columns int

	// Start is how the tiles before the first move are chosen.
	Start Start

	// FoursIn is the odds of a spawned 4: one spawned tile in FoursIn is a 4, the
	// others are 2s. If it is 0, there are only 2s, and nothing is drawn to decide.
	FoursIn int

	// Goal is the face value of the tile to make, a power of two from 8 to
	// MaxTile. A position with this tile, or a greater one, has reached the goal.
	Goal int32

	// EndsAtGoal ends the game, won, with the move that makes the goal.
	// Without it a made goal is remembered and play goes on.
	EndsAtGoal bool

	// SpawnsAfterGoal lets a tile spawn after the move that ends the game at the
	// goal, as after any other. It has no effect without EndsAtGoal.
	SpawnsAfterGoal bool

	// HalfScore makes a merge worth half of the new tile's value, otherwise it is
	// worth all of it.
	HalfScore bool

	// IdleMoves allows a move that changes nothing if there is an empty cell for
	// the tile that spawns after it: as in the Python/Tkinter version, which never
	// checks whether anything moved.
	IdleMoves bool
}

// Validate returns nil if c can be played, else an error that names the field that is
// out of range.
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
	// Below 8, a spawned tile could be the goal.
	if e, ok := exponentOf(c.Goal); !ok || e < 3 {
		return fmt.Errorf("goal: %d is not a power of two from 8 to %d", c.Goal, MaxTile)
	}
	return nil
}
