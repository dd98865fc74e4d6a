package tribolo_test

import (
	"fmt"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/tribolo"
)

// This example starts a game. The start is drawn from the stream of version 1; nothing is drawn
// after it.
func Example() {
	rules := tribolo.New()
	secret, _ := game.SeedFromBytes(make([]byte, game.SeedSize))

	p := rules.Start(secret.Draws(1)).(*tribolo.Position)
	fmt.Println(tribolo.OwnerOf(p.Turn()), "is to move and could take", p.Taken(p.LegalMoves()[0]))

	next, change, err := rules.Move(p, p.Turn(), p.LegalMoves()[0], secret.Draws(2))
	fmt.Println(change.Gained, next.Scores(), err)

	_, _, err = rules.Move(p, p.Turn(), game.To(game.Cell{X: 16, Y: 5}), secret.Draws(2))
	fmt.Println(err)
	// Output:
	// blue is to move and could take [{5 2}]
	// 2 [14 11 12] <nil>
	// illegal move: 16,5 is outside the board, whose columns are 0 to 15 and rows 0 to 10
}

// This example finds the move that leaves the next player the fewest choices.
func ExampleBoard() {
	secret, _ := game.SeedFromBytes(make([]byte, game.SeedSize))
	p := tribolo.New().Start(secret.Draws(1)).(*tribolo.Position)

	board, seat := p.Board(), p.Turn()
	var best tribolo.Square
	fewest := tribolo.Size
	for q := range board.Moves(seat).All() {
		after := board
		after.Play(seat, q)
		if _, replies := after.Next(seat, p.Resigned()); replies.Len() < fewest {
			best, fewest = q, replies.Len()
		}
	}
	fmt.Println(best.Cell(), fewest)
	// Output:
	// {4 3} 10
}
