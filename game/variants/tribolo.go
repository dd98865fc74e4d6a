package variants

import (
	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/tribolo"
)

// triboloVariant is the only variant of Tribolo.
var triboloVariant = game.Variant{
	ID:      "tribolo",
	Title:   "Tribolo",
	Summary: "Three players take each other's cells by jumping over them; the most win.",
	Manual: "Blue, red and green begin with twelve cells each, among twelve walls. When it is your turn, " +
		"name an empty cell from which, looking along a row, a column or a diagonal, there is an unbroken " +
		"line of one opponent's cells with one of yours behind it. That line becomes yours, and so does the " +
		"cell that you named; lines in several directions are taken at once. A player who cannot move is " +
		"skipped; when no player can move, the game is over, and the most cells win.",
	Kind:     game.Tribolo,
	Rows:     tribolo.Rows,
	Columns:  tribolo.Columns,
	Seats:    tribolo.Seats,
	Bots:     []string{"random", "greedy", "original", "minimax"},
	Revision: 1,
	Rules:    tribolo.New(),
}
