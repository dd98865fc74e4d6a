package tribolo_test

import (
	"cmp"
	"iter"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/tribolo"
)

// grid is a board as anyone would write it down, by x and then y, with the rules
// word by word. What it says is what the Board must say.
type grid [tribolo.Columns][tribolo.Rows]tribolo.Owner

func gridOf(cells []tribolo.Owner) *grid {
	var g grid
	for i, owner := range cells {
		g[i%tribolo.Columns][i/tribolo.Columns] = owner
	}
	return &g
}

// is reports whether the grid has these cells.
func (g *grid) is(cells []tribolo.Owner) bool { return *g == *gridOf(cells) }

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

// at is what lies on a cell. The edge stops a jump as a wall does.
func (g *grid) at(x, y int) tribolo.Owner {
	if x < 0 || x >= tribolo.Columns || y < 0 || y >= tribolo.Rows {
		return tribolo.Wall
	}
	return g[x][y]
}

// over appends the cells that the mover jumps over from a destination in one
// direction.
func (g *grid) over(cells []game.Cell, mover tribolo.Owner, x, y, dx, dy int) []game.Cell {
	before := len(cells)
	opponent := g.at(x+dx, y+dy)
	if opponent == mover || opponent == tribolo.Empty || opponent == tribolo.Wall {
		return cells
	}
	x, y = x+dx, y+dy
	for g.at(x, y) == opponent {
		cells = append(cells, cell(int32(x), int32(y)))
		x, y = x+dx, y+dy
	}
	if g.at(x, y) != mover {
		return cells[:before]
	}
	return cells
}

// taken are the cells of all jumps of seat to a destination, by x and then y.
func (g *grid) taken(seat, x, y int) []game.Cell {
	var cells []game.Cell
	if g.at(x, y) != tribolo.Empty {
		return nil
	}
	for _, d := range [][2]int{{-1, -1}, {-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, -1}, {1, 0}, {1, 1}} {
		cells = g.over(cells, tribolo.OwnerOf(seat), x, y, d[0], d[1])
	}
	slices.SortFunc(cells, func(a, b game.Cell) int { return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y)) })
	return cells
}

// destinations ranges over those of seat, by x and then y.
func (g *grid) destinations(seat int) iter.Seq[game.Cell] {
	return func(yield func(game.Cell) bool) {
		for x := range g {
			for y := range g[x] {
				if len(g.taken(seat, x, y)) > 0 && !yield(cell(int32(x), int32(y))) {
					return
				}
			}
		}
	}
}

func (g *grid) moves(seat int) []game.Cell { return slices.Collect(g.destinations(seat)) }

func (g *grid) canMove(seat int) bool {
	for range g.destinations(seat) {
		return true
	}
	return false
}

func (g *grid) play(seat int, destination game.Cell, taken []game.Cell) {
	for _, c := range append([]game.Cell{destination}, taken...) {
		g[c.X][c.Y] = tribolo.OwnerOf(seat)
	}
}

// next is the seat that moves after mover.
func (g *grid) next(mover int, resigned tribolo.SeatSet) int {
	for _, seat := range [][]int{{1, 2, 0}, {2, 0, 1}, {0, 1, 2}}[mover] {
		if !resigned.Has(seat) && g.canMove(seat) {
			return seat
		}
	}
	return game.NoSeat
}

// Ensure the fast board is the plain one, on random boards: what each seat may
// do and take, what comes of it, and whose turn it then is.
func TestBoardEqualsTheRulesWordByWord(t *testing.T) {
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
					want := g.taken(seat, x, y)
					var taken []game.Cell
					for over := range b.Taken(seat, q).All() {
						taken = append(taken, over.Cell())
					}
					if !slices.Equal(want, taken) {
						require.Equal(t, want, taken, "%s to %d,%d on\n%s", tribolo.OwnerOf(seat), x, y, b)
					}
					if len(want) == 0 && i%16 != 0 {
						continue // that a move which takes nothing does nothing is soon seen
					}
					after, plain := b, *g
					if len(want) > 0 {
						moves++
						plain.play(seat, q.Cell(), want)
					}
					require.Equal(t, len(want), after.Play(seat, q))
					require.True(t, plain.is(cellsOf(after)), "%s, after %s to %d,%d on\n%s", after, tribolo.OwnerOf(seat), x, y, b)
				}
			}
			for resigned := range tribolo.SeatSet(1 << tribolo.Seats) {
				next, legal := b.Next(seat, resigned)
				require.Equal(t, g.next(seat, resigned), next, "after %s, resigned %b, on\n%s", tribolo.OwnerOf(seat), resigned, b)
				if next != game.NoSeat {
					require.Equal(t, b.Moves(next), legal)
				} else {
					require.True(t, legal.IsEmpty())
				}
			}
		}
		require.Equal(t, before, b, "looking has changed the board")
	}
	require.Greater(t, moves, 10*len(boards), "the boards have too few moves to mean anything")
}
