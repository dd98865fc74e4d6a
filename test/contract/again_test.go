package contract

import (
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that a repeated move returns its event again, even if the move is so old that no server
// has it in memory, or the game is over.
func TestMove_Again(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		g := s.game(t, p, "6x6")
		made := s.moves(t, p, g, 90)
		require.Len(t, made, 90)
		again := func(i int) {
			t.Helper()
			moved, err := s.Move(p.ctx, slide(g.GetId(), int32(i+1), made[i].GetMoved().GetDirection()))
			require.NoError(t, err)
			assert.True(t, proto.Equal(made[i], moved.GetEvent()), "version %d", i+2)
		}
		for _, i := range []int{89, 89, 88, 40, 25, 1, 0} {
			again(i)
		}
		require.EqualValues(t, 91, s.get(t, g.GetId()).GetVersion())
		s.resign(t, p, g.GetId())
		for i := range made {
			again(i)
		}
		assert.EqualValues(t, 92, s.get(t, g.GetId()).GetVersion())

		stuck := s.game(t, p, "3x3")
		all := s.moves(t, p, stuck, math.MaxInt32)
		last := all[len(all)-1]
		require.NotNil(t, last.GetResult())
		moved, err := s.Move(p.ctx, slide(stuck.GetId(), last.GetVersion()-1, last.GetMoved().GetDirection()))
		require.NoError(t, err)
		assert.True(t, proto.Equal(last, moved.GetEvent()), "the move that ended it")
	})
}

// Ensure that a move that is sent many times concurrently counts once, and that only one of several
// different concurrent moves counts.
func TestMove_AtOnce(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		g := s.game(t, p, "classic")
		version, at := g.GetVersion(), g.GetPosition()
		for round := range 10 {
			legal := at.GetTwenty48().GetLegalMoves()
			var group sync.WaitGroup
			var mu sync.Mutex
			var events []*pb.Event
			for i := range 8 {
				group.Go(func() {
					d := legal[0]
					if round%2 == 1 {
						d = legal[i%len(legal)]
					}
					moved, err := s.Move(p.ctx, slide(g.GetId(), version, d))
					if err != nil {
						assert.Positive(t, round%2, "%v", err)
						assert.Equal(t, pb.ReasonVersionConflict, refusalOf(t, err).info.GetReason(), "%v", err)
						return
					}
					mu.Lock()
					defer mu.Unlock()
					events = append(events, moved.GetEvent())
				})
			}
			group.Wait()
			require.NotEmpty(t, events, "no move succeeded")
			for _, event := range events {
				assert.True(t, proto.Equal(events[0], event))
			}
			version, at = events[0].GetVersion(), events[0].GetPosition()
			require.EqualValues(t, round+2, version)
		}
		assert.Equal(t, version, s.get(t, g.GetId()).GetVersion())
	})
}

// Ensure that a repeated Resign returns the same event, whatever version the request names.
func TestResign_Again(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		g := s.game(t, p, "classic")
		s.moves(t, p, g, 4)
		resigned := s.resign(t, p, g.GetId())
		assert.EqualValues(t, 6, resigned.GetVersion())
		assert.NotNil(t, resigned.GetResigned())
		assert.Equal(t, pb.Result_REASON_RESIGNED, resigned.GetResult().GetReason())
		for _, request := range []*pb.ResignRequest{
			{},
			{Version: proto.Int32(5)},
			{Version: proto.Int32(1)},
			{Version: proto.Int32(6)},
			{Version: proto.Int32(math.MaxInt32), Seat: proto.Int32(0)},
			{Seat: proto.Int32(0)},
		} {
			request.GameId = g.GetId()
			again, err := s.Resign(p.ctx, request)
			require.NoError(t, err)
			assert.True(t, proto.Equal(resigned, again.GetEvent()))
		}
		now := s.get(t, g.GetId())
		assert.EqualValues(t, 6, now.GetVersion())
		assert.True(t, now.GetSeats()[0].GetResigned())

		// Send many concurrent calls, including the first one.
		g = s.game(t, p, "classic")
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				again, err := s.Resign(p.ctx, &pb.ResignRequest{GameId: g.GetId(), Version: proto.Int32(1)})
				if assert.NoError(t, err) {
					assert.EqualValues(t, 2, again.GetEvent().GetVersion())
				}
			})
		}
		group.Wait()
	})
}
