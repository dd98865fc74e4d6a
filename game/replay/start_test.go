package replay_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
)

// Ensure that every variant starts at version 1 with the board that its rules specify, without
// revealing the seed.
func TestStart(t *testing.T) {
	t.Parallel()
	for _, v := range variants.All() {
		sd := seed(7)
		c := created(t, v.ID, sd)
		c.Private = true
		entry := replay.Entry{Seat: game.NoSeat, Action: c}
		event, err := replay.Start("g", entry, sd, at(5))
		require.NoError(t, err, v.ID)
		assert.Equal(t, entry, event.Entry, v.ID)
		assert.Equal(t, game.Change{}, event.Change, v.ID)

		s := event.State
		assert.Equal(t, "g", s.ID, v.ID)
		assert.Equal(t, v.ID, s.Variant.ID, v.ID)
		assert.EqualValues(t, 1, s.Version, v.ID)
		assert.Equal(t, ann, s.Creator, v.ID)
		assert.Equal(t, c.Seats, s.Seats, v.ID)
		assert.Equal(t, replay.Active, s.Status, v.ID)
		assert.Equal(t, board(t, v.Rules.Start(sd.Draws(1))), board(t, s.Position), v.ID)
		assert.Equal(t, game.ReasonNone, s.Reason, v.ID)
		assert.True(t, s.Private, v.ID)
		assert.False(t, s.Ranked, v.ID)
		assert.Equal(t, sd.Commitment(), s.Commitment, v.ID)
		assert.Equal(t, at(5), s.CreateTime, v.ID)
		assert.Equal(t, at(5), s.UpdateTime, v.ID)
		assert.Equal(t, v.Rules.Start(sd.Draws(1)).Turn(), s.Turn(), v.ID)
		assert.NotEmpty(t, s.LegalMoves(), v.ID)
		assert.True(t, s.RevealedSeed().IsZero(), v.ID)
		c.Seats[0].Resigned = true
		assert.False(t, s.Seats[0].Resigned, "a game has its own copy of the seats")
	}
}

// Ensure that an entry that cannot start a game is refused with the right error.
func TestStart_Refused(t *testing.T) {
	t.Parallel()
	good := seed(7)
	for _, tt := range []struct {
		name   string
		change func(e *replay.Entry, c *replay.Created)
		seed   game.Seed
		want   error
	}{
		{"a move", func(e *replay.Entry, _ *replay.Created) { e.Action = replay.Moved{} }, good, replay.ErrInvalid},
		{"nothing", func(e *replay.Entry, _ *replay.Created) { e.Action = nil }, good, replay.ErrInvalid},
		{"at a seat", func(e *replay.Entry, _ *replay.Created) { e.Seat = 0 }, good, replay.ErrInvalid},
		{"unknown variant", func(_ *replay.Entry, c *replay.Created) { c.Variant = "chess" }, good, replay.ErrUnknown},
		{"unknown revision", func(_ *replay.Entry, c *replay.Created) { c.Revision = 999 }, good, replay.ErrUnknown},
		{"no seats", func(_ *replay.Entry, c *replay.Created) { c.Seats = nil }, good, replay.ErrInvalid},
		{"two seats", func(_ *replay.Entry, c *replay.Created) { c.Seats = make([]replay.Seat, 2) }, good, replay.ErrInvalid},
		{"another seed", func(*replay.Entry, *replay.Created) {}, seed(8), replay.ErrInvalid},
		{"no seed", func(*replay.Entry, *replay.Created) {}, game.Seed{}, replay.ErrInvalid},
		{
			// A newer version of the program may have variants with other numbers of seats, so
			// ErrUnknown takes precedence over ErrInvalid.
			"unknown variant with other seats",
			func(_ *replay.Entry, c *replay.Created) { c.Variant, c.Seats = "chess", make([]replay.Seat, 2) },
			good, replay.ErrUnknown,
		},
	} {
		c := created(t, "classic", good)
		entry := replay.Entry{Seat: game.NoSeat}
		tt.change(&entry, &c)
		if entry.Action == nil && tt.name != "nothing" {
			entry.Action = c
		}
		event, err := replay.Start("g", entry, tt.seed, at(1))
		assert.ErrorIs(t, err, tt.want, tt.name)
		assert.Nil(t, event, tt.name)
	}
}

// Ensure that entries with the same meaning compare as the same, whatever the server drew or
// looked up.
func TestEntry_Same(t *testing.T) {
	t.Parallel()
	sd := seed(7)
	base := func() replay.Created { return created(t, "classic", sd) }
	game1 := replay.Entry{Seat: game.NoSeat, Action: base()}
	with := func(change func(*replay.Created)) replay.Entry {
		c := base()
		change(&c)
		return replay.Entry{Seat: game.NoSeat, Action: c}
	}
	attempt := func(s byte) replay.Entry {
		return with(func(c *replay.Created) { c.Attempt.ChallengeID, c.Commitment = "c", seed(s).Commitment() })
	}
	moved := func(seat int, d game.Direction, byBot bool) replay.Entry {
		return replay.Entry{Seat: seat, Action: replay.Moved{Move: game.Slide(d), ByBot: byBot}}
	}
	for _, tt := range []struct {
		name string
		a, b replay.Entry
		want bool
	}{
		{"created again", game1, with(func(*replay.Created) {}), true},
		{"with another seed", game1, with(func(c *replay.Created) { c.Commitment = seed(8).Commitment() }), true},
		{"an attempt", attempt(7), attempt(7), true},
		{"an attempt with another seed", attempt(7), attempt(8), false},
		{"under newer rules", game1, with(func(c *replay.Created) { c.Revision = 2 }), true},
		{"another variant", game1, with(func(c *replay.Created) { c.Variant = "twos" }), false},
		{"another creator", game1, with(func(c *replay.Created) { c.Creator = bob }), false},
		{"under a new name", game1, with(func(c *replay.Created) { c.Creator.Name, c.Seats[0].Player.Name = "Zoe", "Zoe" }), true},
		{"other seats", game1, with(func(c *replay.Created) { c.Seats = []replay.Seat{{Player: bob}} }), false},
		{"private", game1, with(func(c *replay.Created) { c.Private = true }), false},
		{"with a clock", game1, with(func(c *replay.Created) { c.TurnLimit = 5 }), false},
		{"created and moved", game1, moved(game.NoSeat, game.Up, false), false},
		{"moved again", moved(0, game.Up, false), moved(0, game.Up, false), true},
		{"another way", moved(0, game.Up, false), moved(0, game.Down, false), false},
		{"another seat", moved(0, game.Up, false), moved(1, game.Up, false), false},
		{"by a program", moved(0, game.Up, false), moved(0, game.Up, true), false},
		{
			"a cell and a direction", moved(0, game.Up, false),
			replay.Entry{Seat: 0, Action: replay.Moved{Move: game.To(game.Cell{})}},
			false,
		},
		{"resigned again", replay.Entry{Seat: 1, Action: replay.Resigned{}}, replay.Entry{Seat: 1, Action: replay.Resigned{}}, true},
		{"resigned and abandoned", replay.Entry{Seat: 1, Action: replay.Resigned{}}, replay.Entry{Seat: 1, Action: replay.Abandoned{}}, false},
	} {
		assert.Equal(t, tt.want, tt.a.Same(tt.b), tt.name)
		assert.Equal(t, tt.want, tt.b.Same(tt.a), tt.name)
	}
}
