package replay_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
)

// open is a game of Tribolo with the seats that Ann creates.
func open(t *testing.T, seats ...replay.Seat) *replay.State {
	t.Helper()
	sd := seed(t, 7)
	c := created(t, "tribolo", sd)
	c.Seats = seats
	return begin(t, c, sd)
}

// Ensure that a game begins when its last seat is taken, on the board that was
// there.
func TestJoin(t *testing.T) {
	t.Parallel()
	s := open(t, replay.Seat{}, annSits, replay.Seat{})
	require.Equal(t, replay.Waiting, s.Status)
	one := apply(t, s, 2, replay.Joined{Player: bob})
	assert.Equal(t, replay.Waiting, one.Status)
	assert.Equal(t, game.NoSeat, one.Turn())
	assert.Equal(t, []replay.Seat{{}, annSits, bobSits}, one.Seats)
	assert.Equal(t, []replay.Seat{{}, annSits, {}}, s.Seats, "the state before is as it was")
	two := apply(t, one, 0, replay.Joined{Player: eve})
	assert.Equal(t, replay.Active, two.Status)
	assert.Equal(t, two.Position.Turn(), two.Turn())
	assert.Equal(t, board(t, s.Position), board(t, two.Position))
	assert.False(t, two.Ranked, "three humans")
}

// Ensure that a taken seat, or one that does not exist, cannot be taken.
func TestJoin_Refused(t *testing.T) {
	t.Parallel()
	s := open(t, replay.Seat{}, annSits, botSits)
	for _, tt := range []struct {
		name   string
		seat   int
		player replay.Player
	}{
		{"another's seat", 1, bob},
		{"one's own", 1, ann},
		{"a bot's", 2, bob},
		{"no player", 0, replay.Player{}},
		{"no seat", game.NoSeat, bob},
		{"beyond the table", 3, bob},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := s.Apply(replay.Entry{Seat: tt.seat, Action: replay.Joined{Player: tt.player}}, at(9))
			assert.ErrorIs(t, err, replay.ErrInvalid)
		})
	}
	over := apply(t, s, game.NoSeat, replay.Abandoned{})
	_, err := over.Apply(replay.Entry{Seat: 0, Action: replay.Joined{Player: bob}}, at(9))
	assert.ErrorIs(t, err, replay.ErrGameOver)
	assert.Empty(t, over.Result.Winners)
}

// Ensure that a game counts until a second human joins, and only with bots that
// do not guess.
func TestJoin_Ranked(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		seats  []replay.Seat
		joins  replay.Player
		ranked bool
	}{
		{"a second", []replay.Seat{annSits, {}, botSits}, bob, false},
		{"the first", []replay.Seat{botSits, {}, botSits}, bob, true},
		{"the first of two", []replay.Seat{{}, {}, botSits}, bob, true},
		{"a program", []replay.Seat{annSits, {}, botSits}, deep, false},
		{"the same again", []replay.Seat{annSits, {}, bobSits}, ann, false},
		{"the same again, after", []replay.Seat{bobSits, {}, annSits}, ann, false},
		{"among bots that guess", []replay.Seat{annSits, {}, {Bot: "random"}}, bob, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tt.ranked, apply(t, open(t, tt.seats...), 1, replay.Joined{Player: tt.joins}).Ranked)
		})
	}
}
