package replay_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
)

// open returns a game of Tribolo that Ann creates with the given seats.
func open(t *testing.T, seats ...replay.Seat) *replay.State {
	t.Helper()
	sd := seed(7)
	c := created(t, "tribolo", sd)
	c.Seats = seats
	return begin(t, c, sd)
}

// Ensure that a player cannot take a seat that is taken or does not exist.
func TestJoin_Refused(t *testing.T) {
	t.Parallel()
	s := open(t, replay.Seat{}, annSits, botSits)
	for _, tt := range []struct {
		name   string
		seat   int
		player replay.Player
	}{
		{"another player's seat", 1, bob},
		{"the player's own seat", 1, ann},
		{"a bot's seat", 2, bob},
		{"no player", 0, replay.Player{}},
		{"no seat", game.NoSeat, bob},
		{"a seat that does not exist", 3, bob},
	} {
		_, err := s.Apply(replay.Entry{Seat: tt.seat, Action: replay.Joined{Player: tt.player}}, at(9))
		assert.ErrorIs(t, err, replay.ErrInvalid, tt.name)
	}
	over := apply(t, s, game.NoSeat, replay.Abandoned{})
	_, err := over.Apply(replay.Entry{Seat: 0, Action: replay.Joined{Player: bob}}, at(9))
	assert.ErrorIs(t, err, replay.ErrGameOver)
	assert.Empty(t, over.Winners())
}

// Ensure that a game with an open seat is unranked once a player takes a second seat. A private game is never
// ranked.
func TestJoin_Ranked(t *testing.T) {
	t.Parallel()
	sd := seed(7)
	c := created(t, "tribolo", sd)
	c.Seats = []replay.Seat{{}, {}, botSits}
	for _, c.Private = range []bool{false, true} {
		once := apply(t, begin(t, c, sd), 0, replay.Joined{Player: bob})
		assert.Equal(t, !c.Private, once.Ranked)
		assert.False(t, apply(t, once, 1, replay.Joined{Player: bob}).Ranked)
		assert.False(t, apply(t, begin(t, c, sd), 0, replay.Joined{Player: deep}).Ranked, "a program")
	}
}
