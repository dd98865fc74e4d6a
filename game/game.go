// Package game defines what the service needs from any grid game: positions, moves, rules and
// the random draws of a game. It does not depend on networks, clocks or storage, and all its
// values are immutable.
//
// Each game has its own package (game/twenty48, …). Package game/variants lists the variants
// that can be played, and package game/replay handles everything about a game except its
// board: seats, joining, resigning and results.
package game

import (
	"encoding"
	"errors"
)

// Rules defines how one variant is played: a position, a move and a version's draws determine
// the next position. Implementations have no state and are safe for concurrent use.
type Rules interface {
	// Start returns the position of a new game, using draws from the stream of version 1.
	Start(d *Draws) Position

	// Move plays m for seat, and takes the draws that the move needs from d. The caller has
	// checked that it is seat's turn. If the rules forbid m in p, Move returns an error that
	// wraps ErrIllegalMove, and draws nothing.
	Move(p Position, seat int, m Move, d *Draws) (Position, Change, error)

	// Resign returns p with seat's turns skipped from now on. The seat keeps its score.
	Resign(p Position, seat int) Position

	// Decode reads what Position.AppendBinary wrote. It validates all its input, because b may
	// come from a damaged store.
	Decode(b []byte) (Position, error)

	// Recordable reports whether the scores of a game that ended for the given
	// reason may go to the leaderboard.
	Recordable(r Reason) bool
}

// Position is a board with everything that the rules need to continue from it. Positions are
// immutable: the caller owns the slices that their methods return.
type Position interface {
	// AppendBinary appends the position in a fixed encoding defined by the rules: in every
	// release, equal positions give equal bytes.
	encoding.BinaryAppender

	// MoveCount returns the number of moves played so far.
	MoveCount() int32

	// Scores returns the points of each seat.
	Scores() []int32

	// Turn returns the seat to move, or NoSeat if no seat can move.
	Turn() int

	// LegalMoves returns the legal moves of the seat to move, in a fixed order.
	LegalMoves() []Move

	// Ended returns the reason why the rules end the game at this position, or ReasonNone if it
	// goes on.
	Ended() Reason

	// Winners returns the seats that win if the game ends here for the given reason. It may be
	// empty.
	Winners(r Reason) []int
}

// NoSeat is the seat index that means "no seat".
const NoSeat = -1

// ErrIllegalMove is returned, wrapped with the reason, for a move that the rules forbid.
var ErrIllegalMove = errors.New("illegal move")

// Direction is the direction of a slide. The zero Direction is not a direction.
type Direction uint8

// The four directions.
const (
	Up Direction = iota + 1
	Down
	Left
	Right
)

// String returns the direction in lower case, as players type it.
func (d Direction) String() string { return nameOf(d, "no direction", "up", "down", "left", "right") }

// nameOf returns the name of an enum value, or the first name if the value is unknown.
func nameOf[E ~uint8](e E, names ...string) string {
	if int(e) < len(names) {
		return names[e]
	}
	return names[0]
}

// Cell is a position on the board: x counts columns from the left and y counts rows from the
// top, both from 0.
type Cell struct{ X, Y int32 }

// Move is a slide in a direction, or a jump to a cell. Moves are comparable with ==.
type Move struct {
	// Direction is the direction of a slide, or zero if the move names a cell.
	Direction Direction
	// Cell is the cell that the move goes to, if Direction is zero.
	Cell Cell
}

// Slide returns the move that slides all tiles in direction d.
func Slide(d Direction) Move { return Move{Direction: d} }

// To returns the move to the given cell.
func To(c Cell) Move { return Move{Cell: c} }

// Spawn is a tile that appeared after a move.
type Spawn struct {
	// Index is the index of the cell, row-major.
	Index int32
	// Value is the face value of the tile.
	Value int32
}

// Change describes what a move did, in addition to the next position.
type Change struct {
	// Spawned is the tile that appeared, or nil if none did.
	Spawned *Spawn
	// Gained is the score that the move earned.
	Gained int32
	// Taken lists the cells that changed owners, excluding the move's destination.
	Taken []Cell
}

// Reason says why a game ended.
type Reason uint8

// Reasons for the end of a game. The rules decide on GoalReached and NoMoves; the others have
// causes outside the board.
const (
	ReasonNone Reason = iota
	GoalReached
	NoMoves
	Resigned
	TimedOut
	Abandoned
)

// String returns a human-readable name for the reason.
func (r Reason) String() string {
	return nameOf(r, "not ended", "goal reached", "no moves left", "resigned", "out of time", "abandoned")
}

// Kind is the family of games that a variant belongs to. All variants of a kind share one board
// type.
type Kind uint8

// Kinds of games.
const (
	Twenty48 Kind = iota + 1
	Tribolo
)

// Variant is one playable rule set.
type Variant struct {
	// ID is the short name that players type, such as "classic".
	ID string
	// Title is the name that players see.
	Title string
	// Summary describes the variant in one line, for lists.
	Summary string
	// Manual explains the rules to players in one paragraph.
	Manual string
	// Kind is the family of games that the variant belongs to.
	Kind Kind
	// Rows and Columns are the size of the board.
	Rows, Columns int
	// Seats is the number of players.
	Seats int
	// Bots lists the names of the bots that can take a seat, weakest first.
	Bots []string
	// Revision is the revision of the rules. A rule change that would alter the board of a
	// stored game gets a new revision, alongside the old one.
	Revision int32
	// Rules determines the variant's legal moves and their effects.
	Rules Rules
}
