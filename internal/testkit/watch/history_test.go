package watchtest

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

const (
	id   = "game"
	last = 9 // version of the game's last event
)

var began = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func position(v int32) *pb.Position { return &pb.Position{MoveCount: v} }

func event(v int32) *pb.WatchResponse {
	e := &pb.Event{
		GameId: id, Version: v, Position: position(v), Time: timestamppb.New(began.Add(time.Duration(v) * time.Second)),
	}
	if v == last {
		e.Result, e.Seed = &pb.Result{}, []byte{1}
	}
	return &pb.WatchResponse{Update: &pb.WatchResponse_Event{Event: e}}
}

func game(v int32) *pb.WatchResponse {
	e := event(v).GetEvent()
	g := &pb.Game{
		Id: id, Version: v, Position: e.GetPosition(), UpdateTime: e.GetTime(),
		Result: e.GetResult(), Seed: e.GetSeed(), Status: pb.GameStatus_GAME_STATUS_ACTIVE,
	}
	if v == last {
		g.Status = pb.GameStatus_GAME_STATUS_FINISHED
	}
	return &pb.WatchResponse{Update: &pb.WatchResponse_Game{Game: g}}
}

func audience(n int32) *pb.WatchResponse {
	return &pb.WatchResponse{Update: &pb.WatchResponse_Audience{Audience: n}}
}

func altered(m *pb.WatchResponse, alter func(*pb.Event)) *pb.WatchResponse {
	alter(m.GetEvent())
	return m
}

// reopened separates the messages of two streams. Its value is a version that the log is known to
// have reached when the second stream is opened.
type reopened int32

func at(v int32) *int32 { return &v }

// Ensure that Take accepts streams that the contract allows, and rejects each known kind of
// bug.
func TestHistory_Take(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		request  *pb.WatchRequest
		messages []any // *pb.WatchResponse or reopened
		wrong    string
	}{
		"live":                     {messages: []any{game(3), audience(1), event(4), event(5)}},
		"to the end":               {messages: []any{game(8), event(9)}},
		"over already":             {messages: []any{game(9)}},
		"transcript":               {request: &pb.WatchRequest{AfterVersion: at(0)}, messages: []any{audience(0), event(1), event(2)}},
		"slow":                     {messages: []any{game(3), event(4), game(8), event(9)}},
		"resumed":                  {messages: []any{game(3), event(4), reopened(6), event(5), event(6), game(8)}},
		"resumed, nothing missed":  {messages: []any{game(3), event(4), reopened(4), audience(0), event(5)}},
		"events before the game":   {messages: []any{event(3)}, wrong: "before the game"},
		"audience before the game": {messages: []any{audience(3)}, wrong: "before the game"},
		"audience of less than 0":  {messages: []any{game(3), audience(-1)}, wrong: "audience of -1"},
		"nothing":                  {messages: []any{&pb.WatchResponse{}}, wrong: "not in the contract"},
		"of another game": {
			messages: []any{game(3), altered(event(4), func(e *pb.Event) { e.GameId = "other" })}, wrong: "of other",
		},
		"an event twice":                 {messages: []any{game(3), event(4), event(4)}, wrong: "version 4 after version 4"},
		"an event that the game covered": {messages: []any{game(3), event(3)}, wrong: "version 3 after version 3"},
		"a gap":                          {messages: []any{game(3), event(5)}, wrong: "version 5 after version 3"},
		"a gap on resuming":              {messages: []any{game(3), event(4), reopened(6), event(6)}, wrong: "version 6 after version 4"},
		"a repeat on resuming":           {messages: []any{game(3), event(4), reopened(6), event(4)}, wrong: "version 4 after version 4"},
		"a game on resuming": {
			messages: []any{game(3), event(4), reopened(6), game(6)}, wrong: "which existed before the stream",
		},
		"back in time": {messages: []any{game(5), event(6), game(4)}, wrong: "version 4 after version 6"},
		"back in time on another server": {
			messages: []any{reopened(6), game(5)}, wrong: "when version 6 was known",
		},
		"old events instead of new ones": {
			request: &pb.WatchRequest{AfterVersion: at(7)}, messages: []any{event(5)}, wrong: "version 5 after version 7",
		},
		"a game for a spectator who wants every event": {
			request: &pb.WatchRequest{EveryEvent: true}, messages: []any{game(3), game(5)}, wrong: "in place of version 4",
		},
		"an event after the end": {messages: []any{game(8), event(9), event(10)}, wrong: "after the last one"},
		"a game after the end":   {messages: []any{game(9), game(9)}, wrong: "after its end"},
		"a seed too early": {
			messages: []any{game(3), altered(event(4), func(e *pb.Event) { e.Seed = []byte{1} })}, wrong: "a seed before the end",
		},
		"time that runs backward": {
			messages: []any{game(3), event(4), altered(event(5), func(e *pb.Event) { e.Time = timestamppb.New(began) })}, wrong: "older",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request := &pb.WatchRequest{}
			if test.request != nil {
				request = test.request
			}
			request.GameId = id
			h := Begin(request)
			var err error
			for i, m := range test.messages {
				require.NoError(t, err, "message %d", i)
				switch m := m.(type) {
				case reopened:
					h.Open(int32(m))
				case *pb.WatchResponse:
					err = h.Take(m)
				}
			}
			if test.wrong == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, test.wrong)
			}
		})
	}
}

// Ensure that the next stream continues after the last version seen.
func TestHistory_Open(t *testing.T) {
	t.Parallel()
	h := Begin(&pb.WatchRequest{GameId: id, EveryEvent: true})
	assert.True(t, proto.Equal(&pb.WatchRequest{GameId: id, EveryEvent: true}, h.Open(0)))
	require.NoError(t, h.Take(game(3)))
	require.NoError(t, h.Take(event(4)))
	assert.True(t, proto.Equal(&pb.WatchRequest{GameId: id, EveryEvent: true, AfterVersion: at(4)}, h.Open(0)))
	h = Begin(&pb.WatchRequest{GameId: id, AfterVersion: at(0)})
	assert.True(t, proto.Equal(&pb.WatchRequest{GameId: id, AfterVersion: at(0)}, h.Open(0)))
}

// Ensure that a stream may end with the game, or with an error that the contract allows.
func TestHistory_End(t *testing.T) {
	t.Parallel()
	conflictAt := func(v string) error {
		st, err := status.New(codes.Aborted, "").WithDetails(&errdetails.ErrorInfo{
			Reason: pb.ReasonVersionConflict, Metadata: map[string]string{"version": v},
		})
		require.NoError(t, err)
		return st.Err()
	}
	for name, test := range map[string]struct {
		after   int32 // version that the spectator has
		reached int32
		err     error
		again   bool
		wrong   bool
	}{
		"over":               {after: last, reached: last, err: io.EOF},
		"not over":           {after: 5, reached: 6, err: io.EOF, wrong: true},
		"gone":               {after: 5, err: status.Error(codes.Unavailable, ""), again: true},
		"too many":           {after: 5, err: status.Error(codes.ResourceExhausted, ""), again: true},
		"damaged":            {after: 5, err: status.Error(codes.DataLoss, ""), wrong: true},
		"rolled back":        {after: 5, reached: 3, err: conflictAt("4"), wrong: true},
		"a server that lags": {after: 5, reached: 5, err: conflictAt("4"), wrong: true},
		"no conflict at all": {after: 5, reached: 5, err: conflictAt("5"), wrong: true},
		"broken":             {after: 5, err: errors.New("something else"), wrong: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := Begin(&pb.WatchRequest{GameId: id, AfterVersion: at(test.after)})
			h.Open(test.reached)
			again, err := h.End(test.err)
			assert.Equal(t, test.again, again)
			assert.Equal(t, test.wrong, err != nil, "%v", err)
		})
	}
}

// Ensure that Within compares everything that was shown with the log.
func TestHistory_Within(t *testing.T) {
	t.Parallel()
	var log []*pb.Event
	for v := int32(1); v <= last; v++ {
		log = append(log, event(v).GetEvent())
	}
	h := Begin(&pb.WatchRequest{GameId: id})
	for _, m := range []*pb.WatchResponse{game(3), event(4), game(8), event(9)} {
		require.NoError(t, h.Take(m))
	}
	require.NoError(t, h.Within(log))
	assert.Equal(t, 1, h.Covered())
	require.Error(t, h.Within(log[:8]))
	for _, v := range []int{3, 4, 8, 9} {
		other := proto.CloneOf(log[v-1])
		other.Position.MoveCount = 100
		damaged := append(append([]*pb.Event{}, log[:v-1]...), other)
		require.ErrorContains(t, h.Within(append(damaged, log[v:]...)), "was shown as", "version %d", v)
	}
}
