package tribolo_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/tribolo"
)

// Ensure that a move takes a whole row. TestProperty_Game compares all moves of whole games with the rules,
// but no line there is that long.
func TestJumps_Row(t *testing.T) {
	t.Parallel()
	cells := make([]tribolo.Owner, tribolo.Size)
	for x := 1; x <= 14; x++ {
		cells[x] = tribolo.Red
	}
	cells[15] = tribolo.Blue
	b, err := tribolo.NewBoard(cells)
	require.NoError(t, err)
	q, ok := tribolo.SquareOf(cell(0, 0))
	require.True(t, ok)
	var want, got []game.Cell
	for x := range int32(14) {
		want = append(want, cell(x+1, 0))
	}
	for over := range b.Taken(0, q).All() {
		got = append(got, over.Cell())
	}
	assert.Equal(t, want, got)
	assert.True(t, b.Moves(0).Has(q))
	assert.Equal(t, 14, b.Play(0, q))
}

func TestIllegalMoves(t *testing.T) {
	t.Parallel()
	p := position(t, lane(t, "B R . . R G . . . .", "BRG"), 0, 2)
	stuck := position(t, lane(t, "B . . . . . . . . R", "BRG"), game.NoSeat)
	for want, tc := range map[string]struct {
		p    *tribolo.Position
		seat int
		m    game.Move
	}{
		"the game has ended, no moves left":     {stuck, 0, to(1, 0)},
		"it is the turn of blue":                {p, 1, to(6, 0)},
		"green has resigned":                    {p, 2, to(3, 0)},
		"5,0 is not empty, it belongs to green": {p, 0, to(5, 0)},
		"a,1 is a wall":                         {p, 0, to(10, 1)},
		"Tribolo is played by naming the empty cell to jump to, not by sliding":                                {p, 0, game.Slide(game.Left)},
		"16,0 is outside the board, whose columns are 0 to 15 and rows 0 to 10":                                {p, 0, to(16, 0)},
		"-1,0 is outside the board, whose columns are 0 to 15 and rows 0 to 10":                                {p, 0, to(-1, 0)},
		"0,-2147483648 is outside the board, whose columns are 0 to 15 and rows 0 to 10":                       {p, 0, to(0, -1<<31)},
		"0,11 is outside the board, whose columns are 0 to 15 and rows 0 to 10":                                {p, 0, to(0, 11)},
		"blue has no jump to 3,0: no straight line of one opponent's cells leads from there to a cell of blue": {p, 0, to(3, 0)},
	} {
		d := seed(1).Draws(2)
		next, change, err := tribolo.New().Move(tc.p, tc.seat, tc.m, d)
		require.ErrorIs(t, err, game.ErrIllegalMove, want)
		require.EqualError(t, err, "illegal move: "+want)
		assert.Nil(t, next, want)
		assert.Zero(t, change, want)
		assert.Equal(t, seed(1).Draws(2).Draw(1<<30), d.Draw(1<<30), "%s: something was drawn", want)
		if tc.seat == tc.p.Turn() {
			assert.Nil(t, tc.p.Taken(tc.m), want)
		}
	}
}

// otherGame is a position of a game other than Tribolo.
type otherGame struct{ game.Position }

func TestRules_OtherPositions(t *testing.T) {
	t.Parallel()
	_, _, err := tribolo.New().Move(otherGame{}, 0, to(0, 0), nil)
	require.EqualError(t, err, "tribolo: a tribolo_test.otherGame is not a position of Tribolo")
	require.NotErrorIs(t, err, game.ErrIllegalMove)
}
