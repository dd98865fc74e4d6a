package tribolo_test

import (
	"testing"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/tribolo"
)

// played are the positions of the counting seed's game in which everybody takes
// the first of his moves.
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

// BenchmarkDecision looks two moves ahead for the reply that takes least, at
// every position of one game: on the Board, and on the plain grid of the tests.
func BenchmarkDecision(b *testing.B) {
	positions := played()
	b.Run("board", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			p := positions[i%len(positions)]
			board := p.Board()
			decide(&board, p.Turn())
		}
	})
	b.Run("plain", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			p := positions[i%len(positions)]
			gridOf(p.Cells()).decide(p.Turn())
		}
	})
}

func decide(b *tribolo.Board, seat int) tribolo.Square {
	var best tribolo.Square
	least := tribolo.Size
	for q := range b.Moves(seat).All() {
		after := *b
		after.Play(seat, q)
		next, replies := after.Next(seat, 0)
		most := 0
		for r := range replies.All() {
			most = max(most, after.Taken(next, r).Len())
		}
		if most < least {
			best, least = q, most
		}
	}
	return best
}

func (g *grid) decide(seat int) game.Cell {
	var best game.Cell
	least := tribolo.Size
	for _, c := range g.moves(seat) {
		after := *g
		after.play(seat, c, g.taken(seat, int(c.X), int(c.Y)))
		next, most := after.next(seat, 0), 0
		if next != game.NoSeat {
			for _, r := range after.moves(next) {
				most = max(most, len(after.taken(next, int(r.X), int(r.Y))))
			}
		}
		if most < least {
			best, least = c, most
		}
	}
	return best
}

// BenchmarkBoard takes the parts of a search one by one.
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
		"hash": func(i int) { boards[i].Hash() },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				part(i % len(positions))
			}
		})
	}
}
