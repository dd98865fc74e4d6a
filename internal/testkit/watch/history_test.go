package watchtest

import (
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const last = 9 // version of the game's last event

func event(v int32) *pb.WatchResponse {
	e := &pb.Event{Version: v, Position: &pb.Position{MoveCount: v}}
	if v == last {
		e.Result, e.Seed = &pb.Result{}, []byte{1}
	}
	return &pb.WatchResponse{Update: &pb.WatchResponse_Event{Event: e}}
}

func game(v int32) *pb.WatchResponse {
	e := event(v).GetEvent()
	g := &pb.Game{Version: v, Position: e.GetPosition(), Result: e.GetResult(), Seed: e.GetSeed()}
	if v == last {
		g.Status = pb.GameStatus_GAME_STATUS_FINISHED
	}
	return &pb.WatchResponse{Update: &pb.WatchResponse_Game{Game: g}}
}

// reopened separates the messages of two streams. Its value is a version that the log is known to
// have reached when the second stream is opened.
type reopened int32

// Ensure that a history accepts streams that the contract allows, and rejects each known kind of bug.
func TestHistory(t *testing.T) {
	t.Parallel()
	early, damaged := event(4), event(4)
	early.GetEvent().Seed, damaged.GetEvent().Position.MoveCount = []byte{1}, 100
	for _, tt := range []struct {
		messages []any // *pb.WatchResponse or reopened
		wrong    string
	}{
		{[]any{game(3), event(4), game(8), event(last)}, ""},
		{[]any{game(3), event(4), reopened(6), event(5), event(6), game(last)}, ""},
		{[]any{event(3)}, "before the game"},
		{[]any{game(3), event(4), event(4)}, "version 4 after version 4"},
		{[]any{game(3), event(4), reopened(6), event(6)}, "version 6 after version 4"},
		{[]any{game(3), event(4), reopened(6), game(6)}, "which existed before the stream"},
		{[]any{reopened(6), game(5)}, "when version 6 was known"},
		{[]any{game(last), event(10)}, "after the last one"},
		{[]any{game(3), early}, "a seed before the end"},
		{[]any{game(3), damaged}, "was shown as"},
		{[]any{game(3), event(4)}, "ended without an error"},
	} {
		h, err := Begin(&pb.WatchRequest{}), error(nil)
		for _, m := range tt.messages {
			require.NoError(t, err, "%v", tt)
			if reached, ok := m.(reopened); ok {
				assert.Equal(t, h.Version(), h.Open(int32(reached)).GetAfterVersion())
			} else {
				err = h.Take(m.(*pb.WatchResponse))
			}
		}
		var log []*pb.Event
		for v := int32(1); v <= last; v++ {
			log = append(log, event(v).GetEvent())
		}
		if err == nil {
			err = h.Within(log)
		}
		if err == nil {
			_, err = h.End(io.EOF)
		}
		assert.Contains(t, fmt.Sprint(err), tt.wrong, "%v", tt)
		assert.Equal(t, tt.wrong == "", err == nil, "%v: %v", tt, err)
	}
}
