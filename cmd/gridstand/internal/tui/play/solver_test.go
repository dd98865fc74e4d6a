package play

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that a solver takes over a ranked game only after a confirmation, that any key stops it, and that
// its moves are marked as chosen by a program.
func TestSolver(t *testing.T) {
	t.Parallel()
	s := &tuitest.Server{}
	s.OnMove = func(_ context.Context, version int32, _ client.Move, byBot bool) (*pb.Event, error) {
		assert.True(t, byBot)
		e := tuitest.Moved(version+1, left, tuitest.Board(4, 4), 12340+4*(version-612))
		e.Ranked, e.GetMoved().ByBot = false, true
		return e, nil
	}
	s.OnPlace = func(pb.Window) (ui.Place, error) {
		return ui.Place{Entry: &pb.Entry{Rank: 3, Score: 500}, Total: 9}, nil
	}
	p, d := newPlay(t, s)
	d.Until("the places", func() bool { return p.places.all != nil })
	assert.Equal(t, "12,340", p.places.best(&p.State, 0))
	assert.Contains(t, d.Screen(), "RANK #3 of 9 today")
	d.Press("X").Shows("Let greedy play?")
	d.Press("enter")
	require.NotNil(t, p.Dialog, "Enter does not confirm")
	d.Press("n")
	assert.Nil(t, p.solving)
	d.Press("X", "y")
	require.NotNil(t, p.solving, p.Notice)
	d.Until("some moves", func() bool { return p.Game.GetVersion() > 616 })
	d.Shows("greedy plays, so the game is unranked", "  unranked\n")
	assert.NotContains(t, d.Screen(), "RANK")
	assert.Equal(t, "500", p.places.best(&p.State, 0), "a solver's score is not the player's best")
	d.Press("left")
	assert.Nil(t, p.solving, "any key stops the solver and has no other effect")
	assert.Empty(t, p.queue)
	assert.Contains(t, d.Screen(), "stopped")
	for key, name := range map[string]string{"X": "greedy", "Y": "rote", "Z": "montecarlo", "B": "expectimax"} {
		d.Press(key)
		require.NotNil(t, p.solving, key)
		assert.Equal(t, name, p.solving.Name())
		d.Press("x")
	}
}

// Ensure that undo asks for confirmation in a ranked game, and waits for the move in
// flight.
func TestUndo(t *testing.T) {
	t.Parallel()
	s, calls := asked()
	asked := make(chan int32, 1)
	s.OnUndo = func(version int32) (*pb.Event, error) {
		asked <- version
		e := tuitest.Moved(version+1, 0, tuitest.Board(4, 4), 12000)
		e.Action, e.Ranked = &pb.Event_Undone{Undone: &pb.Undone{ToVersion: 612}}, false
		return e, nil
	}
	p, d := newPlay(t, s)
	d.Press("u").Shows("This makes the game unranked.")
	d.Press("n")
	d.Press("left", "up", "u", "y")
	require.Len(t, p.queue, 1, "queued moves are dropped")
	assert.Empty(t, asked, "a move is in flight")
	take(t, calls).answer <- answer{event: tuitest.Moved(614, left, tuitest.Board(4, 4), 12344)}
	d.Until("the undo", func() bool { return p.Game.GetVersion() == 615 })
	assert.EqualValues(t, 614, <-asked)
	assert.EqualValues(t, 12000, p.Score())
	assert.Contains(t, d.Screen(), "  unranked\n")
	assert.Equal(t, "undone, back to move 614", p.Log[0].What)

	d.Press("u") // without confirmation
	d.Until("another undo", func() bool { return p.Game.GetVersion() == 616 })
	assert.EqualValues(t, 615, <-asked)
	s.OnUndo = func(int32) (*pb.Event, error) {
		return nil, &client.Error{Reason: pb.ReasonUndoNotAllowed, Message: "nothing"}
	}
	d.Press("u")
	d.Until("the refusal", func() bool { return p.inFlight == nil })
	assert.Contains(t, d.Screen(), "no move to undo")
}
