// Package tribolo plays Tribolo, a game for three seats on a board of 16 columns
// and 11 rows, in which whoever jumps over cells of others makes them his own.
// It follows the version in ClojureScript, Quentin Duval's Triboard, which takes
// the board and the jumps from a game for DOS.
//
// Everything here is a pure function. Only the start board is random, and comes
// from the game.Draws that the caller passes in. Rules and Position are what a
// game is played with; under them, a Board is for programs that look ahead.
package tribolo

import "github.com/gridstand/gridstand/game"

// The one board that Tribolo has, and its seats, in turn order blue, red, green.
const (
	Rows    = 11
	Columns = 16
	// Size is the number of cells.
	Size = Rows * Columns
	// Seats is the number of players.
	Seats = 3
)

// Owner says whose a cell is. The numbers are stored.
type Owner uint8

// The owners.
const (
	Empty Owner = iota // nobody's yet
	Wall               // nobody's ever
	Blue               // seat 0's
	Red                // seat 1's
	Green              // seat 2's
)

// OwnerOf is the owner that seat is on the board. A seat is 0 to 2.
func OwnerOf(seat int) Owner { return Blue + Owner(seat) }

// Seat is the seat of the owner, game.NoSeat for an empty cell and a wall.
func (o Owner) Seat() int {
	if o < Blue || o > Green {
		return game.NoSeat
	}
	return int(o - Blue)
}

// String names the owner for people.
func (o Owner) String() string {
	switch o {
	case Empty:
		return "empty"
	case Wall:
		return "wall"
	case Blue:
		return "blue"
	case Red:
		return "red"
	case Green:
		return "green"
	default:
		return "no owner"
	}
}

// SeatSet is a set of seats: seat n is the bit 1<<n. The zero SeatSet is empty.
type SeatSet uint8

// allSeats is the set of every seat that there is.
const allSeats SeatSet = 1<<Seats - 1

// Has reports whether seat is in the set. A seat is 0 to 2.
func (s SeatSet) Has(seat int) bool { return s>>uint(seat)&1 != 0 }

// With is the set and seat, which is 0 to 2.
func (s SeatSet) With(seat int) SeatSet { return s | 1<<seat }
