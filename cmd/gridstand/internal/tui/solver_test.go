package tui

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// TestSolver lets greedy take over, after a question in a game that counts, until
// a key, faster and slower, and marks its moves as a program's.
func TestSolver(t *testing.T) {
	t.Parallel()
	s := &script{}
	s.solved = func(_ context.Context, version int32, d pb.Direction) (*pb.Event, error) {
		e := movedEvent(version+1, d, someBoard(4, 4), 12340+4*(version-612))
		e.Ranked, e.GetMoved().ByBot = false, true
		return e, nil
	}
	p, d := newPlay(t, s)
	p.game.RulesRevision, p.opened.RulesRevision = 1, 1
	d.press("X")
	assert.Contains(t, p.View().Content, "Let greedy play?")
	d.press("n")
	assert.Nil(t, p.solving)
	d.press("X", "y")
	require.NotNil(t, p.solving, p.notice)
	for range 6 {
		d.press("+")
	}
	assert.Equal(t, minPace, p.solving.pace)
	d.until("some moves", func() bool { return p.game.GetVersion() > 616 })
	assert.Contains(t, p.View().Content, "greedy plays, so the game is unranked")
	assert.Equal(t, "a program moved", p.unranked())
	d.press("-", "left")
	assert.Nil(t, p.solving, "any other key stops it, and does nothing else")
	assert.Empty(t, p.queue)
	assert.Contains(t, p.state(), "stopped")
	for _, key := range []string{"Y", "Z", "B"} {
		d.press(key)
		require.NotNil(t, p.solving, key)
		d.press("x")
	}
}

// TestUndo asks before a game stops to count, and takes back what the player
// wants when the move under way is made.
func TestUndo(t *testing.T) {
	t.Parallel()
	s, calls := asked()
	asked := make(chan *int32, 1)
	s.undo = func(version int32, to *int32) (*pb.Event, error) {
		asked <- to
		e := movedEvent(version+1, none, someBoard(4, 4), 12000)
		e.Action, e.Ranked = &pb.Event_Undone{Undone: &pb.Undone{ToVersion: 612}}, false
		return e, nil
	}
	p, d := newPlay(t, s)
	d.press("u")
	assert.Contains(t, p.View().Content, "is then unranked")
	d.press("n")
	d.press("left", "up", "u", "y")
	assert.Empty(t, p.queue, "what was not made yet is forgotten")
	assert.Empty(t, asked, "a move is under way")
	take(t, calls).answer <- answer{event: movedEvent(614, left, someBoard(4, 4), 12344)}
	d.until("the undo", func() bool { return p.game.GetVersion() == 615 })
	assert.Nil(t, <-asked)
	assert.EqualValues(t, 12000, p.score())
	assert.Equal(t, "moves taken back", p.unranked())
	assert.Equal(t, "back to version 612", p.log[0].what)

	d.press("u") // no question any more
	d.until("another undo", func() bool { return p.game.GetVersion() == 616 })
	assert.Nil(t, <-asked)
	d.press("R", "y")
	d.until("the restart", func() bool { return p.game.GetVersion() == 617 })
	assert.EqualValues(t, 1, *<-asked)
	s.undo = func(int32, *int32) (*pb.Event, error) {
		return nil, &client.Error{Reason: pb.ReasonUndoNotAllowed, Message: "nothing"}
	}
	d.press("u")
	d.until("the refusal", func() bool { return p.undoing == nil })
	assert.Contains(t, p.state(), "no move to undo")
}
