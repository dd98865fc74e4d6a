package twenty48_test

import (
	"fmt"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
)

// This example plays on a small board. Each version of a game draws from its own stream: the
// start from the stream of version 1, and the first move from the stream of version 2.
func Example() {
	rules := twenty48.New(twenty48.Config{
		Rows: 2, Columns: 3, Start: twenty48.StartMiddleTwo, Goal: 2048,
	})
	secret, _ := game.SeedFromBytes(make([]byte, game.SeedSize))

	p := rules.Start(secret.Draws(1))
	fmt.Println(p.(*twenty48.Position).Tiles(), p.LegalMoves()[0].Direction)

	p, change, err := rules.Move(p, 0, game.Slide(game.Left), secret.Draws(2))
	fmt.Println(p.(*twenty48.Position).Tiles(), change.Spawned.Index, err)

	_, _, err = rules.Move(p, 0, game.To(game.Cell{}), secret.Draws(3))
	fmt.Println(err)
	// Output:
	// [0 0 0 0 2 0] up
	// [2 0 0 2 0 0] 0 <nil>
	// illegal move: 2048 is played by sliding up, right, down or left, not by naming a cell
}
