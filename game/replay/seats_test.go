package replay_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
)

var (
	annSits = replay.Seat{Player: ann}
	bobSits = replay.Seat{Player: bob}
	eveSits = replay.Seat{Player: eve}
	botSits = replay.Seat{Bot: "greedy"}
)

// Ensure that a seat that resigns is skipped, even if it resigned out of turn, and that the
// game ends when one seat is left.
func TestApply_Resignations(t *testing.T) {
	t.Parallel()
	s := clocked(t, 0, annSits, bobSits, eveSits)
	s = step(t, s, time.Second)
	s = apply(t, s, 2, replay.Resigned{})
	assert.Equal(t, replay.Active, s.Status)
	assert.Equal(t, 1, s.Turn())
	assert.Equal(t, []bool{false, false, true}, resigned(s))
	_, err := s.Apply(replay.Entry{Seat: 2, Action: replay.Resigned{}}, at(9))
	require.ErrorIs(t, err, replay.ErrInvalid, "the seat has already resigned")

	s = step(t, s, time.Second)
	assert.Equal(t, 0, s.Turn(), "seat 2 is skipped")
	before := s
	s = apply(t, s, 0, replay.Resigned{})
	assert.Equal(t, replay.Finished, s.Status)
	assert.Equal(t, game.Resigned, s.Reason)
	assert.Equal(t, []int{1}, s.Winners(), "a seat that resigned does not win, whatever its score")
	assert.Equal(t, []bool{false, false, true}, resigned(before), "the previous state is unchanged")
}

func resigned(s *replay.State) []bool {
	var which []bool
	for _, seat := range s.Seats {
		which = append(which, seat.Resigned)
	}
	return which
}

// Ensure that a resignation that leaves no seat able to move ends the game as if it had been
// played out.
func TestApply_ResignationLeavesNoMove(t *testing.T) {
	t.Parallel()
	for first := range byte(100) {
		sd := seed(first)
		c := created(t, "tribolo", sd)
		c.Seats = []replay.Seat{annSits, bobSits, eveSits}
		for s := begin(t, c, sd); s.Status == replay.Active; s = step(t, s, time.Second) {
			end := apply(t, s, s.Turn(), replay.Resigned{})
			if end.Status == replay.Active {
				continue
			}
			assert.Equal(t, game.NoMoves, end.Reason)
			assert.NotEmpty(t, end.Winners())
			assert.NotContains(t, end.Winners(), s.Turn())
			return
		}
	}
	require.Fail(t, "no such game")
}

// Ensure that a game is unranked if a program moves in a human's own seat. Moves by bots and
// stand-ins do not matter.
func TestApply_ByBot(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		seats  []replay.Seat
		ranked bool
	}{
		{"a human's", []replay.Seat{annSits, botSits, botSits}, false},
		{"a bot's", []replay.Seat{botSits, annSits, botSits}, true},
		{"a stand-in's", []replay.Seat{{Player: ann, StandIn: "greedy"}, botSits, botSits}, true},
	} {
		s := clocked(t, 0, tt.seats...)
		s = apply(t, s, 0, replay.Moved{Move: s.LegalMoves()[0], ByBot: true})
		assert.Equal(t, tt.ranked, s.Ranked, tt.name)
		s = step(t, s, time.Second)
		assert.Equal(t, tt.ranked, s.Ranked, "%s: Ranked does not change later", tt.name)
	}
}

// Ensure that in a played-out game with several seats, only the seats that a player held to the
// end score.
func TestScored_Seats(t *testing.T) {
	t.Parallel()
	s := clocked(t, 0, annSits, bobSits, replay.Seat{Player: eve, StandIn: "greedy", Absent: true})
	s.Ranked = true
	gone := apply(t, s, 0, replay.Resigned{})
	for _, tt := range []struct {
		name  string
		state *replay.State
		want  []bool
	}{
		{"before the end", s, []bool{false, false, false}},
		{"played out", playOut(t, s), []bool{true, true, false}},
		{"played out after a resignation", playOut(t, gone), []bool{false, true, false}},
		{"resigned", apply(t, gone, 1, replay.Resigned{}), []bool{false, false, false}},
		{"abandoned", apply(t, s, game.NoSeat, replay.Abandoned{}), []bool{false, false, false}},
	} {
		for seat, want := range tt.want {
			assert.Equal(t, want, tt.state.Scored(seat), "%s, seat %d", tt.name, seat)
		}
	}

	full := playOut(t, clocked(t, 0, annSits, botSits, botSits))
	require.Equal(t, game.NoMoves, full.Reason)
	assert.True(t, full.Scored(0))
	assert.False(t, full.Scored(1), "a bot")
}

// Ensure that SeatsOf finds all seats that a player holds.
func TestSeatsOf(t *testing.T) {
	t.Parallel()
	s := clocked(t, 0, annSits, replay.Seat{Player: bob, StandIn: "greedy"}, annSits)
	assert.Equal(t, []int{0, 2}, s.SeatsOf("ann"))
	assert.Equal(t, []int{1}, s.SeatsOf("bob"))
	assert.Empty(t, s.SeatsOf("eve"))
	assert.Empty(t, open(t, annSits, botSits, replay.Seat{}).SeatsOf(""), "bot seats and open seats have no player")
}
