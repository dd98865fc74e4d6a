package tribolo_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/tribolo"
)

func cellsOf(b tribolo.Board) []tribolo.Owner {
	var cells []tribolo.Owner
	for y := range int32(tribolo.Rows) {
		for x := range int32(tribolo.Columns) {
			q, _ := tribolo.SquareOf(cell(x, y))
			cells = append(cells, b.Owner(q))
		}
	}
	return cells
}

// Ensure that on random boards the fast board agrees with the plain one on the cells that each
// seat may move to and take, on the board after a move, and on the next turn.
func TestBoard_EqualsTheRules(t *testing.T) {
	t.Parallel()
	boards := randomBoards(200)
	moves := 0
	for i, b := range boards {
		before := b
		g := gridOf(cellsOf(b))
		for seat := range tribolo.Seats {
			var listed []game.Cell
			for q := range b.Moves(seat).All() {
				listed = append(listed, q.Cell())
			}
			require.Equal(t, g.moves(seat), listed, "%s on\n%s", tribolo.OwnerOf(seat), b)
			for x := range tribolo.Columns {
				for y := range tribolo.Rows {
					q, _ := tribolo.SquareOf(cell(int32(x), int32(y)))
					want := g.taken(seat, q.Cell())
					var taken []game.Cell
					for over := range b.Taken(seat, q).All() {
						taken = append(taken, over.Cell())
					}
					if !slices.Equal(want, taken) {
						require.Equal(t, want, taken, "%s to %d,%d on\n%s", tribolo.OwnerOf(seat), x, y, b)
					}
					if len(want) == 0 && i%16 != 0 {
						continue // only every 16th board, to save time
					}
					after, plain := b, *g
					if len(want) > 0 {
						moves++
					}
					require.Equal(t, len(want), plain.play(seat, q.Cell()))
					require.Equal(t, len(want), after.Play(seat, q))
					require.Equal(t, *gridOf(cellsOf(after)), plain, "%s, after %s to %d,%d on\n%s", after, tribolo.OwnerOf(seat), x, y, b)
				}
			}
			for resigned := range tribolo.SeatSet(1 << tribolo.Seats) {
				next, legal := b.Next(seat, resigned)
				want := g.next(seat, resigned)
				require.Equal(t, want, next, "after %s, resigned %b, on\n%s", tribolo.OwnerOf(seat), resigned, b)
				if next != game.NoSeat {
					require.Equal(t, b.Moves(next), legal)
				} else {
					require.True(t, legal.IsEmpty())
				}
			}
		}
		require.Equal(t, before, b, "looking ahead changed the board")
	}
	require.Greater(t, moves, 10*len(boards), "the boards have too few moves for a meaningful test")
}
