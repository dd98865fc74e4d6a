// Package tribolo implements Tribolo, a game for three seats on a board of 16 columns and 11 rows,
// in which players take each other's cells by jumping over them. It follows Quentin Duval's
// Triboard, a version in ClojureScript, which took the board and the jumps from a DOS game.
//
// All functions are pure. Only the start board is random, drawn from the game.Draws that the caller
// passes. Games use Rules and Position; the lower-level Board is for search programs.
package tribolo

import "github.com/gridstand/gridstand/game"

// The size of the board, and the number of seats. The turn order is blue, red, green.
const (
	Rows    = 11
	Columns = 16
	// Size is the number of cells.
	Size = Rows * Columns
	// Seats is the number of players.
	Seats = 3
)

// Owner is the owner of a cell. The numeric values are stored and must not change.
type Owner uint8

// Owners of a cell.
const (
	Empty Owner = iota
	Wall        // never owned
	Blue        // seat 0
	Red         // seat 1
	Green       // seat 2
)

// OwnerOf returns the owner of seat's cells. The seat must be from 0 to 2.
func OwnerOf(seat int) Owner { return Blue + Owner(seat) }

// Seat returns the owner's seat, or game.NoSeat for an empty cell or a wall.
func (o Owner) Seat() int {
	if o < Blue || o > Green {
		return game.NoSeat
	}
	return int(o - Blue)
}

// String returns a human-readable name for the owner.
func (o Owner) String() string {
	names := [...]string{"empty", "wall", "blue", "red", "green"}
	if int(o) >= len(names) {
		return "no owner"
	}
	return names[o]
}

// SeatSet is a set of seats: seat n is the bit 1<<n. The zero SeatSet is empty.
type SeatSet uint8

// allSeats is the set of all seats.
const allSeats SeatSet = 1<<Seats - 1

// Has reports whether seat, from 0 to 2, is in the set.
func (s SeatSet) Has(seat int) bool { return s>>uint(seat)&1 != 0 }

// With returns the set with seat, from 0 to 2, added.
func (s SeatSet) With(seat int) SeatSet { return s | 1<<seat }
