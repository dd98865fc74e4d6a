package replay_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
)

// Ensure that an entry that is not allowed next is refused, and that if several errors apply,
// the first documented one is returned.
func TestApply_Refused(t *testing.T) {
	t.Parallel()
	sd := seed(7)
	active, idle := begin(t, created(t, "classic", sd), sd), game.Slide(game.Left)
	for slices.Contains(active.LegalMoves(), idle) { // until a slide to the left changes nothing
		active = apply(t, active, 0, replay.Moved{Move: idle})
	}
	c := created(t, "classic", sd)
	c.Seats = []replay.Seat{{}}
	waiting := begin(t, c, sd)
	over := apply(t, active, 0, replay.Resigned{})
	legal := replay.Moved{Move: active.LegalMoves()[0]}

	for _, tt := range []struct {
		name  string
		state *replay.State
		seat  int
		a     replay.Action
		want  error
	}{
		{"a stranger's move after the end", over, 5, replay.Moved{Move: idle}, replay.ErrGameOver},
		{"created after the end", over, game.NoSeat, c, replay.ErrGameOver},
		{"a move before the start", waiting, 0, legal, replay.ErrNotStarted},
		{"a stranger's move before the start", waiting, 5, replay.Moved{Move: idle}, replay.ErrNotStarted},
		{"resigning before the start", waiting, 0, replay.Resigned{}, replay.ErrNotStarted},
		{"a stranger's move", active, 1, replay.Moved{Move: idle}, replay.ErrNotYourTurn},
		{"a move without a seat", active, game.NoSeat, legal, replay.ErrNotYourTurn},
		{"a move that changes nothing", active, 0, replay.Moved{Move: idle}, game.ErrIllegalMove},
		{"a cell", active, 0, replay.Moved{Move: game.To(game.Cell{X: 1})}, game.ErrIllegalMove},
		{"no direction", active, 0, replay.Moved{Move: game.Slide(9)}, game.ErrIllegalMove},
		{"a stranger's resignation", active, 1, replay.Resigned{}, replay.ErrInvalid},
		{"a resignation without a seat", active, game.NoSeat, replay.Resigned{}, replay.ErrInvalid},
		{"an abandonment that names a seat", active, 0, replay.Abandoned{}, replay.ErrInvalid},
		{"created again", active, game.NoSeat, c, replay.ErrInvalid},
		{"nothing", active, 0, nil, replay.ErrInvalid},
	} {
		event, err := tt.state.Apply(replay.Entry{Seat: tt.seat, Action: tt.a}, at(9))
		assert.ErrorIs(t, err, tt.want, tt.name)
		assert.Nil(t, event, tt.name)
	}
}

// Ensure that the score of a game of 2048 counts no matter how the game ends, but only if the
// game is ranked.
func TestScored_Twenty48(t *testing.T) {
	t.Parallel()
	sd := seed(3)
	for reason, end := range map[game.Reason]func(s *replay.State) *replay.State{
		game.NoMoves:   func(s *replay.State) *replay.State { return playOut(t, s) },
		game.Resigned:  func(s *replay.State) *replay.State { return apply(t, s, 0, replay.Resigned{}) },
		game.Abandoned: func(s *replay.State) *replay.State { return apply(t, s, game.NoSeat, replay.Abandoned{}) },
		game.TimedOut:  func(s *replay.State) *replay.State { return after(t, s, limit, 0, replay.TimedOut{}) },
	} {
		for _, tt := range []struct {
			player          replay.Player
			private, ranked bool
		}{{ann, false, true}, {ann, true, false}, {deep, false, false}} {
			c := created(t, "classic", sd)
			c.Seats[0].Player, c.Private, c.TurnLimit = tt.player, tt.private, limit
			s := begin(t, c, sd)
			for s.Position.Scores()[0] == 0 {
				s = apply(t, s, 0, replay.Moved{Move: s.LegalMoves()[0]})
			}
			assert.False(t, s.Scored(0), "the game is not over")
			s = end(s)
			assert.Equal(t, reason, s.Reason)
			assert.Equal(t, tt.ranked, s.Ranked, "%v", tt)
			assert.Equal(t, tt.ranked, s.Scored(0), "%v, %v", reason, tt)
		}
	}
}

// Ensure that a score of 0 counts only in an attempt at a challenge.
func TestScored_Zero(t *testing.T) {
	t.Parallel()
	sd := seed(3)
	for want, of := range map[bool]replay.Attempt{false: {}, true: {ChallengeID: "today", Kind: replay.Daily}} {
		c := created(t, "classic", sd)
		c.Attempt = of
		s := apply(t, begin(t, c, sd), 0, replay.Resigned{})
		assert.True(t, s.Ranked)
		assert.Zero(t, s.Position.Scores()[0])
		assert.Equal(t, want, s.Scored(0))
	}
}
