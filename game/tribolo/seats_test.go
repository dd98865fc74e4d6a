package tribolo_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/tribolo"
)

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
		p := position(t, lane(t, tc.lane, tc.others), game.NoSeat, tc.resigned...)
		for _, reason := range []game.Reason{game.NoMoves, game.Resigned, game.TimedOut} {
			assert.Equal(t, tc.want, p.Winners(reason), "%s, %s: %v", name, reason, p.Scores())
		}
		assert.Nil(t, p.Winners(game.Abandoned), name)
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
