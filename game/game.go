// Package game defines what the service needs from any grid game: positions, moves,
// rules and the random draws of a game. It has no knowledge of networks, clocks or
// storage, and all its values are immutable.
//
// The games themselves live in folders of their own (game/twenty48, …), the
// list of variants that can be played in game/variants, and the life of a game
// around its board (seats, joining, resigning, results) in game/replay.
package game

import (
	"encoding"
	"errors"
)

// Rules are the rules of one variant: a pure function from a position, a move
// and the draws of a version to the next position. Implementations hold no
// state and are safe for concurrent use.
type Rules interface {
	// Start returns the position of a new game, drawn from the stream of
	// version 1.
	Start(d *Draws) Position

	// Move plays m for seat, which the caller has checked to be to move, and
	// draws what the move needs from d. If the rules forbid m in p, it returns an
	// error that wraps ErrIllegalMove, and draws nothing.
	Move(p Position, seat int, m Move, d *Draws) (Position, Change, error)

	// Resign returns p with seat skipped from now on. Its score stays.
	Resign(p Position, seat int) Position

	// Decode reads what Position.AppendBinary wrote. It checks everything it
	// reads: b may come from a damaged store.
	Decode(b []byte) (Position, error)

	// Recordable reports whether the scores of a game that ended for the given
	// reason may go to the leaderboard.
	Recordable(r Reason) bool
}

// Position is a board with everything that the rules need to continue from it.
// Positions are immutable: the slices they return belong to the caller.
type Position interface {
	// AppendBinary appends the position in the rules' own fixed bytes: equal
	// positions give equal bytes, in every release.
	encoding.BinaryAppender

	// MoveCount is the number of moves that led here.
	MoveCount() int32

	// Scores are the points of each seat.
	Scores() []int32

	// Turn is the seat to move, or NoSeat if no seat can move.
	Turn() int

	// LegalMoves lists the legal moves of the seat to move, in a fixed order.
	LegalMoves() []Move

	// Ended is the reason for which the rules end the game here, or ReasonNone if
	// they do not.
	Ended() Reason

	// Winners lists the seats that win if the game ends here for the given reason.
	// It may be empty.
	Winners(r Reason) []int
}

// NoSeat is the index of no seat.
const NoSeat = -1

// ErrIllegalMove is returned, wrapped with the reason, for a move that the
// rules forbid.
var ErrIllegalMove = errors.New("illegal move")

// Direction is the direction of a slide. The zero Direction is none.
type Direction uint8

// The four directions.
const (
	Up Direction = iota + 1
	Down
	Left
	Right
)

// String is the direction in lower case, as players write it.
func (d Direction) String() string { return nameOf(d, "no direction", "up", "down", "left", "right") }

// nameOf is the name of an enum's value, that of 0 for an unknown value.
func nameOf[E ~uint8](e E, names ...string) string {
	if int(e) < len(names) {
		return names[e]
	}
	return names[0]
}

// Cell is a place on the board: x counts columns from the left, y rows from
// the top, both from 0.
type Cell struct{ X, Y int32 }

// Move is a slide in a direction, or a jump to a cell. Moves are comparable with ==.
type Move struct {
	// Direction of a slide; zero if the move names a cell.
	Direction Direction
	// Cell that the move goes to, if Direction is zero.
	Cell Cell
}

// Slide is the move of all tiles towards d.
func Slide(d Direction) Move { return Move{Direction: d} }

// To is the move to a cell.
func To(c Cell) Move { return Move{Cell: c} }

// Spawn is a tile that appeared after a move.
type Spawn struct {
	// Index of the cell, row-major.
	Index int32
	// Value on the tile's face.
	Value int32
}

// Change is the effect of a move, besides the next position.
type Change struct {
	// Spawned is the tile that appeared, nil if none did.
	Spawned *Spawn
	// Gained is the score that the move earned.
	Gained int32
	// Taken are the cells that changed their owner, without the destination.
	Taken []Cell
}

// Reason is why a game ended.
type Reason uint8

// The reasons. GoalReached and NoMoves are decided by the rules, the others by what
// happens around the board.
const (
	ReasonNone Reason = iota
	GoalReached
	NoMoves
	Resigned
	TimedOut
	Abandoned
)

// String names the reason for people.
func (r Reason) String() string {
	return nameOf(r, "not ended", "goal reached", "no moves left", "resigned", "timed out", "abandoned")
}

// Kind is the family of games of a variant; all variants of a kind share one board
// type.
type Kind uint8

// The kinds.
const (
	Twenty48 Kind = iota + 1
	Tribolo
)

// Variant is one playable rule set.
type Variant struct {
	// ID is the short name that players type, such as "classic".
	ID string
	// Title is the name on the screen.
	Title string
	// Summary is one line for lists.
	Summary string
	// Manual is the rules in a paragraph, for players.
	Manual string
	// Kind of game.
	Kind Kind
	// Rows and Columns of the board.
	Rows, Columns int
	// Seats is the number of players.
	Seats int
	// Bots are the names of the bots that may sit in a seat.
	Bots []string
	// Revision of the rules. A change of the rules that would alter the board of a
	// stored game is a new revision beside the old one.
	Revision int32
	// Rules of the board.
	Rules Rules
}
