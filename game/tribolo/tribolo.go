// Package tribolo plays Tribolo, a game for three seats on a board of 16 columns and 11
// rows, in which players take each other's cells by jumping over them. It follows the
// version in ClojureScript, Quentin Duval's Triboard, which takes the board and the
// jumps from a game for DOS.
//
// All functions are pure. Only the start board is random, drawn from the game.Draws
// that the caller passes. Games use Rules and Position; Board, below them, is for
// programs that search.
package tribolo

import "github.com/gridstand/gridstand/game"

// The board of Tribolo, and its seats, in turn order blue, red, green.
const (
	Rows    = 11
	Columns = 16
	// Size is the number of cells.
	Size = Rows * Columns
	// Seats is the number of players.
	Seats = 3
)

// Owner is the owner of a cell. The numbers are stored.
type Owner uint8

// The owners.
const (
	Empty Owner = iota
	Wall        // never owned
	Blue        // seat 0's
	Red         // seat 1's
	Green       // seat 2's
)

// OwnerOf is seat as an owner of cells. A seat is 0 to 2.
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

// allSeats is the set of all seats.
const allSeats SeatSet = 1<<Seats - 1

// Has reports whether seat is in the set. A seat is 0 to 2.
func (s SeatSet) Has(seat int) bool { return s>>uint(seat)&1 != 0 }

// With is the set with seat added, which is 0 to 2.
func (s SeatSet) With(seat int) SeatSet { return s | 1<<seat }
