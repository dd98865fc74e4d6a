package tribolo_test

import (
	"testing"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/tribolo"
)

// played returns the positions of the counting seed's game in which each seat makes its first
// legal move.
func played() []*tribolo.Position {
	var positions []*tribolo.Position
	p := start(countingSeed())
	for p.Turn() != game.NoSeat {
		positions = append(positions, p)
		next, _, err := tribolo.New().Move(p, p.Turn(), p.LegalMoves()[0], nil)
		if err != nil {
			panic(err)
		}
		p = next.(*tribolo.Position)
	}
	return positions
}

// BenchmarkMove plays the moves of one game over and over, as the server does.
func BenchmarkMove(b *testing.B) {
	positions := played()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		p := positions[i%len(positions)]
		if _, _, err := tribolo.New().Move(p, p.Turn(), p.LegalMoves()[0], nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBoard measures each board operation that a search uses.
func BenchmarkBoard(b *testing.B) {
	positions := played()
	boards := make([]tribolo.Board, len(positions))
	first := make([]tribolo.Square, len(positions))
	for i, p := range positions {
		boards[i] = p.Board()
		first[i], _ = tribolo.SquareOf(p.LegalMoves()[0].Cell)
	}
	for name, part := range map[string]func(i int){
		"moves": func(i int) { boards[i].Moves(positions[i].Turn()) },
		"next":  func(i int) { boards[i].Next(positions[i].Turn(), 0) },
		"taken": func(i int) { boards[i].Taken(positions[i].Turn(), first[i]) },
		"play": func(i int) {
			after := boards[i]
			after.Play(positions[i].Turn(), first[i])
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				part(i % len(positions))
			}
		})
	}
}
