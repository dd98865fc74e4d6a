package replay_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
)

const limit = 10 * time.Second

// clocked returns a running game of Tribolo with a turn limit, in which it is the given seat's
// turn.
func clocked(t *testing.T, turn int, seats ...replay.Seat) *replay.State {
	t.Helper()
	for first := range byte(100) {
		sd := seed(first)
		c := created(t, "tribolo", sd)
		c.Seats, c.TurnLimit = seats, limit
		if s := begin(t, c, sd); s.Position.Turn() == turn {
			return s
		}
	}
	require.Fail(t, "no such game")
	return nil
}

// after applies a valid entry whose time is d after that of the previous entry.
func after(t *testing.T, s *replay.State, d time.Duration, seat int, a replay.Action) *replay.State {
	t.Helper()
	event, err := s.Apply(replay.Entry{Seat: seat, Action: a}, s.UpdateTime.Add(d))
	require.NoError(t, err)
	return event.State
}

func step(t *testing.T, s *replay.State, d time.Duration) *replay.State {
	t.Helper()
	return after(t, s, d, s.Turn(), replay.Moved{Move: s.LegalMoves()[0], ByBot: !s.Seats[s.Turn()].Held()})
}

// Ensure that the clock of the human whose turn it is runs from the beginning of the turn, no
// matter what other players do.
func TestClock(t *testing.T) {
	t.Parallel()
	s := clocked(t, 0, annSits, bobSits, eveSits)
	assert.Equal(t, at(1).Add(limit), s.Deadline())
	s = step(t, s, 3*time.Second)
	began := s.UpdateTime
	assert.Equal(t, began.Add(limit), s.Deadline())
	other := (s.Turn() + 1) % 3
	s = after(t, s, 4*time.Second, other, replay.Resigned{})
	assert.Equal(t, began.Add(limit), s.Deadline(), "after another player resigned")
	s = after(t, s, 9*time.Second, s.Turn(), replay.ClockExtended{By: 5 * time.Second})
	assert.Equal(t, began.Add(limit+5*time.Second), s.Deadline())
	s = after(t, s, time.Second, s.Turn(), replay.ClockExtended{By: time.Second})
	assert.Equal(t, began.Add(limit+6*time.Second), s.Deadline(), "credits add up")
	most := math.MaxInt64 - limit - 6*time.Second
	_, err := s.Apply(replay.Entry{Seat: s.Turn(), Action: replay.ClockExtended{By: most + 1}}, s.UpdateTime)
	require.ErrorIs(t, err, replay.ErrInvalid)
	after(t, s, 0, s.Turn(), replay.ClockExtended{By: most})
	s = step(t, s, time.Second)
	assert.Equal(t, s.UpdateTime.Add(limit), s.Deadline(), "credits end with the turn")

	first := clocked(t, 0, annSits, botSits, botSits)
	again := step(t, step(t, step(t, first, time.Second), time.Second), time.Second)
	require.Equal(t, 0, again.Turn(), "both bots have answered")
	undo := replay.Entry{Seat: 0, Action: replay.Undone{To: 1}}
	undone, err := again.Undo(undo, first, again.UpdateTime.Add(time.Second))
	require.NoError(t, err)
	assert.Equal(t, undone.State.UpdateTime.Add(limit), undone.State.Deadline(), "after an undo")

	waiting := begin(t, replay.Created{
		Variant: "tribolo", Revision: 1, Creator: ann, Seats: []replay.Seat{annSits, bobSits, {}},
		TurnLimit: limit, Commitment: seed(3).Commitment(),
	}, seed(3))
	assert.Zero(t, waiting.Deadline(), "no seat is to move")
	started := after(t, waiting, time.Hour, 2, replay.Joined{Player: eve})
	assert.Equal(t, started.UpdateTime.Add(limit), started.Deadline())
	assert.Zero(t, clocked(t, 1, annSits, botSits, bobSits).Deadline(), "a bot has no clock")
	assert.Zero(t, after(t, started, 0, game.NoSeat, replay.Abandoned{}).Deadline())
	assert.Zero(t, open(t, annSits, bobSits, eveSits).Deadline(), "no clock without a limit")
}

// Ensure that time runs out at the deadline and not before, and only for the seat to move, and
// that a stand-in then moves until the player returns and gets the full turn limit.
func TestTimedOut(t *testing.T) {
	t.Parallel()
	s := clocked(t, 0, annSits, bobSits, botSits)
	out := replay.TimedOut{StandIn: "greedy"}
	for _, tt := range []struct {
		name string
		seat int
		a    replay.Action
		at   time.Time
	}{
		{"too early", 0, out, s.Deadline().Add(-1)},
		{"another seat", 1, out, s.Deadline()},
		{"a bot", 2, out, s.Deadline()},
		{"no seat", game.NoSeat, out, s.Deadline()},
		{"no stand-in although a human is left", 0, replay.TimedOut{}, s.Deadline()},
		{"another seat's clock extended", 1, replay.ClockExtended{By: 1}, s.Deadline()},
		{"a clock extended by zero", 0, replay.ClockExtended{}, s.Deadline()},
		{"a clock extended beyond all time", 0, replay.ClockExtended{By: math.MaxInt64}, s.Deadline()},
	} {
		_, err := s.Apply(replay.Entry{Seat: tt.seat, Action: tt.a}, tt.at)
		require.ErrorIs(t, err, replay.ErrInvalid, tt.name)
	}
	held := after(t, s, limit, 0, out)
	assert.Equal(t, replay.Seat{Player: ann, StandIn: "greedy", Absent: true}, held.Seats[0])
	assert.Equal(t, annSits, s.Seats[0], "the previous state is unchanged")
	assert.Equal(t, 0, held.Turn(), "the move is still due")
	assert.Zero(t, held.Deadline())
	_, err := held.Apply(replay.Entry{Seat: 0, Action: replay.Moved{Move: held.LegalMoves()[0]}}, at(99))
	require.ErrorIs(t, err, replay.ErrNotYourTurn, "it is the stand-in's turn")
	_, err = held.Apply(replay.Entry{Seat: 0, Action: out}, at(99))
	require.ErrorIs(t, err, replay.ErrInvalid, "a stand-in has no clock")
	_, err = held.Apply(replay.Entry{Seat: 0, Action: replay.Joined{Player: bob}}, at(99))
	require.ErrorIs(t, err, replay.ErrInvalid, "another player cannot take the seat back")

	back := after(t, held, time.Minute, 0, replay.Joined{Player: ann})
	assert.Equal(t, replay.Seat{Player: ann, Absent: true}, back.Seats[0], "its result does not count")
	assert.Equal(t, back.UpdateTime.Add(limit), back.Deadline())
	moved := step(t, held, time.Second)
	assert.Equal(t, 1, moved.Turn())
	late := after(t, moved, time.Second, 0, replay.Joined{Player: ann})
	assert.Equal(t, moved.Deadline(), late.Deadline(), "the clock of the seat to move continues")
	assert.Equal(t, 1, late.Turn())

	gone := after(t, moved, 0, 0, replay.Resigned{})
	_, err = gone.Apply(replay.Entry{Seat: 0, Action: replay.Joined{Player: ann}}, at(99))
	require.ErrorIs(t, err, replay.ErrInvalid, "a resigned seat cannot be taken back")
}

// Ensure that the game ends when the last human leaves or runs out of time, no matter whether the other
// seats have bots, stand-ins or players who resigned, but not if that player has another seat.
func TestApply_LastHuman(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		seats []replay.Seat
		ends  bool
	}{
		{"against bots", []replay.Seat{annSits, botSits, botSits}, true},
		{"against a stand-in", []replay.Seat{annSits, {Player: bob, StandIn: "greedy", Absent: true}, botSits}, true},
		{"against a player who resigned", []replay.Seat{annSits, {Player: bob, Resigned: true}, botSits}, true},
		{"against another player", []replay.Seat{annSits, bobSits, botSits}, false},
		{"against the same player", []replay.Seat{annSits, annSits, botSits}, false},
	} {
		s := clocked(t, 0, tt.seats...)
		assert.Equal(t, tt.ends, s.LastHuman(0), tt.name)
		right, wrong := replay.TimedOut{StandIn: "greedy"}, replay.TimedOut{}
		if tt.ends {
			right, wrong = wrong, right
		}
		_, err := s.Apply(replay.Entry{Seat: 0, Action: wrong}, s.Deadline())
		require.ErrorIs(t, err, replay.ErrInvalid, tt.name)
		late, gone := after(t, s, limit, 0, right), apply(t, s, 0, replay.Resigned{})
		if !tt.ends {
			assert.Equal(t, replay.Active, late.Status, tt.name)
			assert.Equal(t, 1, gone.Turn(), tt.name)
			continue
		}
		assert.Equal(t, game.TimedOut, late.Reason, tt.name)
		assert.Equal(t, []int{0, 1, 2}, late.Winners(), tt.name)
		assert.False(t, late.Scored(0), tt.name)
		assert.Equal(t, game.Resigned, gone.Reason, tt.name)
		assert.Equal(t, []int{1, 2}, gone.Winners(), tt.name)
	}
}

// Ensure that a clock keeps its start when it is extended, and that an undo restarts it.
func TestClock_Kept(t *testing.T) {
	t.Parallel()
	h := &history{t, []*replay.State{clocked(t, 0, annSits, annSits, annSits)}}
	h.moves(0)
	h.does(h.now().Turn(), replay.ClockExtended{By: time.Second})
	assert.Equal(t, replay.Clock{From: at(2), Version: 2, Extended: time.Second}, h.now().Clock)
	assert.EqualValues(t, 1, h.now().UndoTo)
	back := h.undoes(1)
	assert.Equal(t, back.UpdateTime.Add(limit), back.Deadline())

	// If an event is stored later than it was drafted, its clock starts when it is stored.
	event, err := h.now().Apply(replay.Entry{Seat: 0, Action: replay.Moved{Move: h.now().LegalMoves()[0]}}, at(50))
	require.NoError(t, err)
	assert.Equal(t, at(50).Add(limit), event.State.Deadline())
	event.SetTime(at(60))
	assert.Equal(t, at(60).Add(limit), event.State.Deadline())
	assert.Equal(t, h.now().CreateTime, event.State.CreateTime)
	event, err = h.now().Apply(replay.Entry{Seat: (h.now().Turn() + 1) % 3, Action: replay.Resigned{}}, at(50))
	require.NoError(t, err)
	event.SetTime(at(60))
	assert.Equal(t, h.now().Deadline(), event.State.Deadline())
}
