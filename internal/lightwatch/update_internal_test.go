package lightwatch

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// FuzzUpdate_Decode compares the result of decode with the decoded protobuf message. Decoding
// invalid bytes must not panic.
func FuzzUpdate_Decode(f *testing.F) {
	for _, m := range []*pb.WatchResponse{
		{},
		{Update: &pb.WatchResponse_Audience{Audience: 3}},
		{Update: &pb.WatchResponse_Game{Game: &pb.Game{Id: "a", Version: 5, Status: pb.GameStatus_GAME_STATUS_FINISHED}}},
		{Update: &pb.WatchResponse_Event{Event: &pb.Event{
			GameId: "a", Version: 1 << 30, Time: timestamppb.New(time.UnixMilli(1234)), Result: &pb.Result{}, Seed: []byte{1},
		}}},
		{Update: &pb.WatchResponse_Event{Event: &pb.Event{Version: -1, Time: &timestamppb.Timestamp{Seconds: -1}}}},
	} {
		raw, err := proto.Marshal(m)
		require.NoError(f, err)
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var u Update
		_ = u.decode(raw)
		m := &pb.WatchResponse{}
		if proto.Unmarshal(raw, m) != nil {
			return
		}
		raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		require.NoError(t, err)
		require.NoError(t, u.decode(raw))
		var want Update
		switch update := m.GetUpdate().(type) {
		case *pb.WatchResponse_Game:
			g := update.Game
			want = Update{Kind: Game, Version: g.GetVersion(), Over: g.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED}
			assert.Equal(t, g.GetId(), string(u.GameID))
		case *pb.WatchResponse_Event:
			e := update.Event
			want = Update{
				Kind: Event, Version: e.GetVersion(), Over: e.GetResult() != nil,
				seconds: uint64(e.GetTime().GetSeconds()), nanos: uint64(int64(e.GetTime().GetNanos())),
			}
			assert.Equal(t, e.GetGameId(), string(u.GameID))
		}
		u.GameID = nil
		assert.Equal(t, want, u)
	})
}
