package contract

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// Ensure that a waiting game is listed as waiting, as a game of its creator, and as a game of each
// player who has a seat.
func TestWaiting_Listed(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		host, guest := s.player(t), s.player(t)
		lists := func(id string, request *pb.ListGamesRequest) bool {
			return slices.Contains(ids(s.list(t, guest, request)), id)
		}
		for _, mine := range []bool{true, false} {
			seats := []*pb.SeatRequest{openSeat, openSeat, botSeat("greedy")}
			if mine {
				seats[0] = callerSeat
			}
			g := s.table(t, host, seats...)
			id := g.GetId()
			assert.True(t, lists(id, &pb.ListGamesRequest{Status: waiting}))
			assert.True(t, lists(id, &pb.ListGamesRequest{Status: waiting, Variant: "tribolo"}))
			assert.True(t, lists(id, &pb.ListGamesRequest{}))
			assert.True(t, lists(id, &pb.ListGamesRequest{PlayerId: host.GetId(), Status: waiting}))
			assert.False(t, lists(id, &pb.ListGamesRequest{Status: active}))
			assert.False(t, lists(id, &pb.ListGamesRequest{Status: active, OrderBy: pb.OrderBy_ORDER_BY_SCORE}))
			assert.False(t, lists(id, &pb.ListGamesRequest{Status: waiting, PlayerId: guest.GetId()}))
			if !mine {
				s.join(t, host, id)
			}
			assert.True(t, lists(id, &pb.ListGamesRequest{Status: waiting}))
			s.join(t, guest, id)
			assert.False(t, lists(id, &pb.ListGamesRequest{Status: waiting}))
			assert.True(t, lists(id, &pb.ListGamesRequest{Status: active}))
			assert.True(t, lists(id, &pb.ListGamesRequest{Status: active, PlayerId: guest.GetId()}))
			assert.True(t, lists(id, &pb.ListGamesRequest{Status: active, Variant: "tribolo", OrderBy: pb.OrderBy_ORDER_BY_SCORE}))
		}
		private := s.create(t, host, &pb.CreateGameRequest{
			Variant: "tribolo", Private: true, Seats: []*pb.SeatRequest{callerSeat, openSeat, openSeat},
		}).GetId()
		assert.False(t, lists(private, &pb.ListGamesRequest{Status: waiting}))
		assert.False(t, lists(private, &pb.ListGamesRequest{PlayerId: host.GetId()}))
		s.join(t, guest, private) // Any player who has the id may join.
		assert.True(t, lists(private, &pb.ListGamesRequest{PlayerId: host.GetId()}))
		assert.True(t, lists(private, &pb.ListGamesRequest{PlayerId: "me", Status: waiting}))
	}, patientBots)
}

// Ensure that a game that no one joins ends after a while without a winner, and that each
// player who joins extends that time.
func TestWaiting_Abandoned(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	const after = 1200 * time.Millisecond
	each(t, func(t *testing.T, s *testServer) {
		host, guest := s.player(t), s.player(t)
		g := s.table(t, host, openSeat, callerSeat, openSeat)
		watching := s.watch(t, host.ctx, from(g.GetId(), 0))
		watching.event(t)
		last, err := s.joins(guest, g.GetId())
		if err == nil { // The guest joined in time.
			watching.event(t)
		} else {
			wantReason(t, err, pb.ReasonGameOver)
			last = g
		}
		end := watching.event(t)
		watching.end(t)
		require.NotNil(t, end.GetAbandoned())
		assert.Equal(t, pb.Result_REASON_ABANDONED, end.GetResult().GetReason())
		assert.Empty(t, end.GetResult().GetWinners())
		assert.GreaterOrEqual(t, end.GetTime().AsTime().Sub(last.GetUpdateTime().AsTime()), after)
		_, err = s.joins(s.player(t), g.GetId())
		wantReason(t, err, pb.ReasonGameOver)
		eventually(t, "the game is not waiting and its place is free", func() bool {
			_, err := s.CreateGame(host.ctx, &pb.CreateGameRequest{Variant: "classic"})
			return err == nil && len(s.list(t, host, &pb.ListGamesRequest{Status: waiting})) == 0
		})
	}, func(c *server.Config) { c.WaitingFor, c.Limits.OpenGamesPerPlayer = after, 1 })
}

// Ensure that the creator of a waiting game can cancel it, with or without a seat, and that no
// other player can.
func TestResign_CallsOff(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		host, guest := s.player(t), s.player(t)
		for n, seats := range [][]*pb.SeatRequest{
			{callerSeat, openSeat, openSeat}, {openSeat, openSeat, botSeat("greedy")}, {openSeat, callerSeat, callerSeat},
		} {
			g := s.table(t, host, seats...)
			watching := s.watch(t, s.anyone, from(g.GetId(), 1))
			version := g.GetVersion()
			if n == 0 {
				version = s.join(t, guest, g.GetId(), 1).GetVersion()
				_, err := s.Resign(guest.ctx, &pb.ResignRequest{GameId: g.GetId()})
				wantReason(t, err, pb.ReasonGameNotStarted)
				_, err = s.Resign(host.ctx, &pb.ResignRequest{GameId: g.GetId(), Seat: proto.Int32(1)})
				wantReason(t, err, pb.ReasonNotSeated)
				watching.event(t)
			} else {
				_, err := s.Resign(guest.ctx, &pb.ResignRequest{GameId: g.GetId()})
				wantReason(t, err, pb.ReasonNotSeated)
			}
			_, err := s.Resign(host.ctx, &pb.ResignRequest{GameId: g.GetId(), Version: proto.Int32(version + 1)})
			wantConflict(t, err, version)
			off, err := s.Resign(host.ctx, &pb.ResignRequest{GameId: g.GetId(), Version: &version})
			require.NoError(t, err)
			require.NotNil(t, off.GetEvent().GetAbandoned())
			assert.Equal(t, pb.Result_REASON_ABANDONED, off.GetEvent().GetResult().GetReason())
			for _, request := range []*pb.ResignRequest{{}, {Version: &version}} {
				request.GameId = g.GetId()
				again, err := s.Resign(host.ctx, request)
				require.NoError(t, err)
				assert.True(t, proto.Equal(off, again), "a repeat returns the same event")
			}
			assert.True(t, proto.Equal(off.GetEvent(), watching.event(t)))
			watching.end(t)
			_, err = s.joins(s.player(t), g.GetId())
			wantReason(t, err, pb.ReasonGameOver)
			assert.False(t, slices.Contains(ids(s.list(t, host, &pb.ListGamesRequest{Status: waiting})), g.GetId()))
			assert.True(t, slices.Contains(ids(s.list(t, host, &pb.ListGamesRequest{Status: finished, PlayerId: "me"})), g.GetId()))
		}
	}, func(c *server.Config) { c.Limits.OpenGamesPerPlayer = 1 })
}

// Ensure that spectators of a waiting game are counted until they take a seat.
func TestWaiting_Audience(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	each(t, func(t *testing.T, s *testServer) {
		host, guest := s.player(t), s.player(t)
		g := s.table(t, host, callerSeat, openSeat, openSeat)
		s.watch(t, host.ctx, from(g.GetId(), 0)).event(t)
		s.watch(t, guest.ctx, &pb.WatchRequest{GameId: g.GetId()}).game(t)
		w := s.watch(t, s.anyone, from(g.GetId(), 0))
		w.audience(t, 2)
		s.join(t, guest, g.GetId())
		w.audience(t, 1)
		eventually(t, "the guest no longer counts", func() bool { return s.get(t, g.GetId()).GetWatchers() == 1 })
	})
}
