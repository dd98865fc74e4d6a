package replay_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
)

// history is a game with all of its states. states[0] is the state at version 1.
type history struct {
	t      *testing.T
	states []*replay.State
}

func (h *history) now() *replay.State { return h.states[len(h.states)-1] }

// does applies a valid entry for the given seat, and returns the next state.
func (h *history) does(seat int, a replay.Action) *replay.State {
	h.t.Helper()
	h.states = append(h.states, apply(h.t, h.now(), seat, a))
	return h.now()
}

// moves makes the nth legal move of the seat to move.
func (h *history) moves(nth int) *replay.State {
	h.t.Helper()
	s := h.now()
	legal := s.LegalMoves()
	return h.does(s.Turn(), replay.Moved{Move: legal[nth%len(legal)], ByBot: !s.Seats[s.Turn()].Held()})
}

func (h *history) undo(seat int, to int32) (*replay.Event, error) {
	s := h.now()
	var past *replay.State
	if to >= 1 && int(to) <= len(h.states) {
		past = h.states[to-1]
	}
	return s.Undo(replay.Entry{Seat: seat, Action: replay.Undone{To: to}}, past, s.UpdateTime.Add(time.Second))
}

func (h *history) undoes(to int32) *replay.State {
	h.t.Helper()
	event, err := h.undo(slices.IndexFunc(h.now().Seats, replay.Seat.Held), to)
	require.NoError(h.t, err)
	h.states = append(h.states, event.State)
	return h.now()
}

// Ensure that an undo restores the game except for its version, time and ranked status, and that
// later draws differ from the undone ones.
func TestUndo(t *testing.T) {
	t.Parallel()
	sd := seed(7)
	h := &history{t, []*replay.State{begin(t, created(t, "6x6", sd), sd)}}
	for n := range 20 {
		h.moves(n)
	}
	was := h.states[9]
	require.EqualValues(t, 20, h.now().UndoTo)
	back := h.undoes(10)
	assert.EqualValues(t, 22, back.Version)
	assert.Equal(t, board(t, was.Position), board(t, back.Position))
	assert.Equal(t, was.Position.MoveCount(), back.Position.MoveCount())
	assert.Equal(t, was.LegalMoves(), back.LegalMoves())
	assert.False(t, back.Ranked)
	assert.True(t, h.states[20].Ranked, "earlier states are unchanged")
	assert.Equal(t, was.CreateTime, back.CreateTime)
	assert.Equal(t, h.states[20].UpdateTime.Add(time.Second), back.UpdateTime)
	assert.EqualValues(t, 9, back.UndoTo, "the next undo goes one step further")
	first := board(t, h.states[10].Position)
	assert.NotEqual(t, first, board(t, h.moves(9).Position), "the same move on the same board uses new draws")

	back = h.undoes(1)
	assert.Zero(t, back.UndoTo, "nothing is left to undo")
	assert.Equal(t, board(t, h.states[0].Position), board(t, back.Position))
	assert.False(t, playOut(t, back).Ranked, "Ranked does not change later")
}

// Ensure that an undo goes back to the state before one of the player's own moves.
func TestUndoTo(t *testing.T) {
	t.Parallel()
	h := &history{t, []*replay.State{open(t, botSits, annSits, botSits)}}
	for h.now().Turn() != 1 {
		assert.Zero(t, h.moves(0).UndoTo, "bots moved")
	}
	before := h.now().Version
	h.moves(0)
	for h.now().Turn() != 1 {
		assert.Equal(t, before, h.moves(0).UndoTo)
	}
	again := h.now().Version
	assert.Equal(t, again, h.moves(1).UndoTo)
	assert.Equal(t, before, h.undoes(again).UndoTo)
}

// Ensure that an undo restores the seats as well as the board.
func TestUndo_Seats(t *testing.T) {
	t.Parallel()
	h := &history{t, []*replay.State{open(t, annSits, annSits, annSits)}}
	h.does(h.now().Turn(), replay.Resigned{})
	h.moves(0)
	assert.Equal(t, h.states[1].Seats, h.undoes(2).Seats)
	back := h.undoes(1)
	assert.Equal(t, []replay.Seat{annSits, annSits, annSits}, back.Seats)
	assert.Equal(t, h.states[0].Turn(), back.Turn())
}

// Ensure that an undo that is not possible is refused with the right error.
func TestUndo_Refused(t *testing.T) {
	t.Parallel()
	waiting := open(t, annSits, annSits, replay.Seat{})
	alone := apply(t, waiting, 2, replay.Joined{Player: ann})
	for _, tt := range []struct {
		name   string
		states []*replay.State
		to     int32
		want   error
	}{
		{"itself", []*replay.State{open(t, annSits, botSits, botSits)}, 1, replay.ErrInvalid},
		{"the future", []*replay.State{open(t, annSits, botSits, botSits)}, 2, replay.ErrInvalid},
		{"nothing", []*replay.State{open(t, annSits, botSits, botSits)}, 0, replay.ErrInvalid},
		{"waiting", []*replay.State{waiting}, 1, replay.ErrNotStarted},
		{"a version with open seats", []*replay.State{waiting, alone}, 1, replay.ErrNoUndo},
		{"over", []*replay.State{waiting, apply(t, waiting, game.NoSeat, replay.Abandoned{})}, 1, replay.ErrGameOver},
	} {
		_, err := (&history{t, tt.states}).undo(0, tt.to)
		assert.ErrorIs(t, err, tt.want, tt.name)
	}
	h := &history{t, []*replay.State{open(t, annSits, bobSits, botSits)}}
	h.moves(0)
	_, err := h.undo(0, 1)
	require.ErrorIs(t, err, replay.ErrNoUndo, "two players have seats")
	h = &history{t, []*replay.State{open(t, annSits, botSits, botSits)}}
	h.moves(0)
	for _, seat := range []int{game.NoSeat, 1, 3} {
		_, err := h.undo(seat, 1)
		require.ErrorIs(t, err, replay.ErrInvalid, "seat %d has no player", seat)
	}
	_, err = h.now().Apply(replay.Entry{Seat: 0, Action: replay.Undone{To: 1}}, at(9))
	require.ErrorIs(t, err, replay.ErrInvalid, "Undo needs the state to go back to")
}
