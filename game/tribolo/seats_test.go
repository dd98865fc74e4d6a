package tribolo_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/tribolo"
)

// Ensure that a resignation passes the turn on only if it was that seat's turn, and leaves the
// cells and the scores unchanged.
func TestResign(t *testing.T) {
	t.Parallel()
	// On this lane blue may move to 2, red to 6 and green to 3. Red and green may do so both
	// before and after blue's move.
	const open = "B R . . R G . . . ."
	for name, tc := range map[string]struct {
		lane  string
		turn  int
		order []int
		want  int
	}{
		"the seat to move":                    {open, 0, []int{0}, 1},
		"a seat to move later":                {open, 0, []int{1}, 0},
		"the last in the order":               {open, 2, []int{2}, 0},
		"two in turn":                         {open, 0, []int{0, 1}, 2},
		"two out of turn":                     {open, 0, []int{2, 1}, 0},
		"all":                                 {open, 0, []int{0, 1, 2}, game.NoSeat},
		"one twice":                           {open, 0, []int{0, 0}, 1},
		"the seat to move, the next is stuck": {"B R . . . . . . R G", 0, []int{0}, 2},
		"the only one that can move":          {"B R . . . . . . . .", 0, []int{0}, game.NoSeat},
		"when no seat can move":               {"B . . . . . . . . R", game.NoSeat, []int{1}, game.NoSeat},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := position(t, lane(t, tc.lane, "BRG"), tc.turn)
			var next game.Position = p
			var resigned tribolo.SeatSet
			for _, seat := range tc.order {
				next = tribolo.New().Resign(next, seat)
				resigned = resigned.With(seat)
			}
			require.Equal(t, position(t, p.Board(), tc.want, toSeats(resigned)...), next)
			assert.Equal(t, tc.want, next.Turn())
			assert.Equal(t, tc.want == game.NoSeat, next.Ended() == game.NoMoves)
			assert.Equal(t, resigned, next.(*tribolo.Position).Resigned())
			assert.Equal(t, p.Scores(), next.Scores())
			assert.Equal(t, p.MoveCount(), next.MoveCount())
			assert.Zero(t, p.Resigned(), "the previous position changed")
		})
	}
}

func toSeats(set tribolo.SeatSet) []int {
	var seats []int
	for seat := range tribolo.Seats {
		if set.Has(seat) {
			seats = append(seats, seat)
		}
	}
	return seats
}

func TestWinners(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		lane, others string
		resigned     []int
		want         []int
	}{
		"the highest":                          {"R . . . . . . . . R", "RRBG", nil, []int{1}},
		"two share":                            {"R . . . . . . . . B", "BRBRG", nil, []int{0, 1}},
		"all share":                            {"R . . . . . . . . G", "BRG", nil, []int{0, 1, 2}},
		"a resigned seat does not win":         {"R . . . . . . . . R", "RRBBG", []int{1}, []int{0}},
		"a resigned seat does not share a win": {"R . . . . . . . . G", "BRG", []int{1}, []int{0, 2}},
		"one seat is left":                     {"R . . . . . . . . R", "RRBBG", []int{0, 1}, []int{2}},
		"no seat is left":                      {"R . . . . . . . . R", "RRBBG", []int{0, 1, 2}, nil},
		"a seat without cells can be a winner": {"R . . . . . . . . R", "R", []int{1}, []int{0, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := position(t, lane(t, tc.lane, tc.others), game.NoSeat, tc.resigned...)
			for _, reason := range []game.Reason{game.NoMoves, game.Resigned, game.TimedOut} {
				assert.Equal(t, tc.want, p.Winners(reason), "%s: %v", reason, p.Scores())
			}
			assert.Nil(t, p.Winners(game.Abandoned))
		})
	}
}

func TestRecordable(t *testing.T) {
	t.Parallel()
	for reason := game.ReasonNone; reason <= game.Abandoned; reason++ {
		assert.Equal(t, reason == game.NoMoves, tribolo.New().Recordable(reason), reason)
	}
}

func TestOwners(t *testing.T) {
	t.Parallel()
	for owner, want := range map[tribolo.Owner]struct {
		name string
		seat int
	}{
		tribolo.Empty: {"empty", game.NoSeat},
		tribolo.Wall:  {"wall", game.NoSeat},
		tribolo.Blue:  {"blue", 0},
		tribolo.Red:   {"red", 1},
		tribolo.Green: {"green", 2},
		5:             {"no owner", game.NoSeat},
		255:           {"no owner", game.NoSeat},
	} {
		assert.Equal(t, want.name, owner.String())
		assert.Equal(t, want.seat, owner.Seat())
		if want.seat != game.NoSeat {
			assert.Equal(t, owner, tribolo.OwnerOf(want.seat))
		}
	}
}
