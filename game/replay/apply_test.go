package replay_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
)

// Ensure that a whole game of every variant follows its rules: each version draws from its own
// stream, and the seed is revealed at the end.
func TestApply_WholeGame(t *testing.T) {
	t.Parallel()
	for _, v := range variants.All() {
		t.Run(v.ID, func(t *testing.T) {
			t.Parallel()
			sd := seed(3)
			s := begin(t, created(t, v.ID, sd), sd)
			p := v.Rules.Start(sd.Draws(1))
			for s.Status != replay.Finished {
				turn, move := s.Turn(), s.LegalMoves()[0]
				want, change, err := v.Rules.Move(p, turn, move, sd.Draws(s.Version+1))
				require.NoError(t, err)
				moved := replay.Moved{Move: move, ByBot: turn > 0}
				event, err := s.Apply(replay.Entry{Seat: turn, Action: moved}, at(int(s.Version)+1))
				require.NoError(t, err)
				require.Equal(t, change, event.Change)
				require.Equal(t, board(t, want), board(t, event.State.Position))
				require.Equal(t, s.Version+1, event.State.Version)
				require.Equal(t, at(int(s.Version)+1), event.State.UpdateTime)
				require.Equal(t, s.CreateTime, event.State.CreateTime)
				require.True(t, s.RevealedSeed().IsZero())
				s, p = event.State, want
			}
			assert.Equal(t, p.Ended(), s.Result.Reason)
			assert.Equal(t, p.Winners(p.Ended()), s.Result.Winners)
			assert.Equal(t, game.NoSeat, s.Turn())
			assert.Empty(t, s.LegalMoves())
			assert.Equal(t, sd.SeedBytes(), s.RevealedSeed().SeedBytes())
			assert.Equal(t, p.Scores()[0] > 0, s.Scored(0))
		})
	}
}

// Ensure that Apply does not change its receiver: applying the same entry again gives the same
// result, whatever was applied in between.
func TestApply_Immutable(t *testing.T) {
	t.Parallel()
	sd := seed(3)
	s := begin(t, created(t, "restless", sd), sd)
	for range 20 {
		s = apply(t, s, 0, replay.Moved{Move: s.LegalMoves()[0]})
	}
	before := *s
	seats, first := append([]replay.Seat(nil), s.Seats...), board(t, s.Position)

	entries := []replay.Entry{{Seat: game.NoSeat, Action: replay.Abandoned{}}, {Seat: 0, Action: replay.Resigned{}}}
	for _, m := range s.LegalMoves() {
		entries = append(entries, replay.Entry{Seat: 0, Action: replay.Moved{Move: m, ByBot: true}})
	}
	events := make([]*replay.Event, len(entries))
	for round := range 2 {
		for i, e := range entries {
			event, err := s.Apply(e, at(99))
			require.NoError(t, err)
			if round == 0 {
				events[i] = event
				continue
			}
			assert.Equal(t, events[i].Change, event.Change)
			assert.Equal(t, board(t, events[i].State.Position), board(t, event.State.Position))
			assert.Equal(t, events[i].State.Result, event.State.Result)
			assert.Equal(t, events[i].State.Seats, event.State.Seats)
			assert.Equal(t, events[i].State.Ranked, event.State.Ranked)
		}
	}
	assert.Equal(t, before.Version, s.Version)
	assert.Equal(t, before.Status, s.Status)
	assert.True(t, s.Ranked)
	assert.Nil(t, s.Result)
	assert.Equal(t, seats, s.Seats)
	assert.Equal(t, first, board(t, s.Position))
}

// Ensure that an entry that is not allowed next is refused, and that if several errors apply,
// the first documented one is returned.
func TestApply_Refused(t *testing.T) {
	t.Parallel()
	sd := seed(7)
	// A single tile in the corner cannot move left.
	active := onBoard(t, begin(t, created(t, "classic", sd), sd), 1)
	idle := game.Slide(game.Left)
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
		{"a move after the end", over, 0, legal, replay.ErrGameOver},
		{"a stranger's move after the end", over, 5, replay.Moved{Move: idle}, replay.ErrGameOver},
		{"resigning after the end", over, 0, replay.Resigned{}, replay.ErrGameOver},
		{"abandoning after the end", over, game.NoSeat, replay.Abandoned{}, replay.ErrGameOver},
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
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			event, err := tt.state.Apply(replay.Entry{Seat: tt.seat, Action: tt.a}, at(9))
			assert.ErrorIs(t, err, tt.want)
			assert.Nil(t, event)
		})
	}
}

// Ensure that the score of a game of 2048 counts no matter how the game ends, but only if the
// game is ranked.
func TestScored_Twenty48(t *testing.T) {
	t.Parallel()
	sd := seed(3)
	ends := map[string]func(s *replay.State) *replay.State{
		"stuck":     func(s *replay.State) *replay.State { return playOut(t, s) },
		"resigned":  func(s *replay.State) *replay.State { return apply(t, s, 0, replay.Resigned{}) },
		"abandoned": func(s *replay.State) *replay.State { return apply(t, s, game.NoSeat, replay.Abandoned{}) },
	}
	reasons := map[string]game.Reason{"stuck": game.NoMoves, "resigned": game.Resigned, "abandoned": game.Abandoned}
	for name, end := range ends {
		for _, tt := range []struct {
			name   string
			change func(*replay.Created)
			byBot  bool
			ranked bool
		}{
			{"as usual", func(*replay.Created) {}, false, true},
			{"private", func(c *replay.Created) { c.Private = true }, false, false},
			{"a program's account", func(c *replay.Created) { c.Seats[0].Player = deep }, false, false},
			{"a bot alone", func(c *replay.Created) { c.Seats[0] = replay.Seat{Bot: "greedy"} }, false, false},
			{"one move by a program", func(*replay.Created) {}, true, false},
		} {
			t.Run(name+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				c := created(t, "classic", sd)
				tt.change(&c)
				s := begin(t, c, sd)
				bot := !s.Seats[0].Held()
				s = apply(t, s, 0, replay.Moved{Move: s.LegalMoves()[0], ByBot: tt.byBot || bot})
				for s.Position.Scores()[0] == 0 {
					s = apply(t, s, 0, replay.Moved{Move: s.LegalMoves()[0], ByBot: bot})
				}
				assert.False(t, s.Scored(0), "the game is not over")
				s = end(s)
				assert.Equal(t, replay.Finished, s.Status)
				assert.Equal(t, reasons[name], s.Result.Reason)
				assert.Equal(t, tt.ranked, s.Ranked)
				assert.Equal(t, tt.ranked, s.Scored(0))
			})
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

// Ensure that a game that ends at its goal is won, and that a game that continues past 2048 is
// won no matter how it ends.
func TestApply_Goal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		variant string
		ends    bool
	}{{"twos", true}, {"restless", true}, {"vt100", true}, {"classic", false}, {"5x5", false}} {
		t.Run(tt.variant, func(t *testing.T) {
			t.Parallel()
			sd := seed(3)
			s := begin(t, created(t, tt.variant, sd), sd)
			// Two tiles of 1024 are side by side, so the goal is one move away.
			s = onBoard(t, s, 10, 10)

			next := apply(t, s, 0, replay.Moved{Move: game.Slide(game.Left)})
			if tt.ends {
				require.Equal(t, replay.Finished, next.Status)
				assert.Equal(t, &replay.Result{Reason: game.GoalReached, Winners: []int{0}}, next.Result)
				assert.False(t, next.RevealedSeed().IsZero())
				return
			}
			require.Equal(t, replay.Active, next.Status)
			over := apply(t, next, 0, replay.Resigned{})
			assert.Equal(t, &replay.Result{Reason: game.Resigned, Winners: []int{0}}, over.Result)
			left := apply(t, next, game.NoSeat, replay.Abandoned{})
			assert.Equal(t, &replay.Result{Reason: game.Abandoned, Winners: []int{0}}, left.Result)
		})
	}
}
