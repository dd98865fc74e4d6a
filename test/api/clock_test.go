package api

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// quickClocks allows clocks that run out during a test, with bots that never move.
func quickClocks(c *server.Config) { c.MinTurnLimit, c.BotPace = time.Millisecond, time.Hour }

// clocked creates a game with a turn limit.
func (s *testServer) clocked(t testing.TB, p player, variant string, limit time.Duration, seats ...*pb.SeatRequest) *pb.Game {
	t.Helper()
	return s.create(t, p, &pb.CreateGameRequest{Variant: variant, TurnLimit: durationpb.New(limit), Seats: seats})
}

// Ensure that a solo game ends when its clock runs out, but not before, and that its score
// counts.
func TestClock_Solo(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		const limit = 1500*time.Millisecond + 1
		g := s.clocked(t, p, "6x6", limit)
		watching := s.watch(t, s.anyone, from(g.GetId(), 0))
		last := watching.event(t)
		for range 12 {
			request := slide(g.GetId(), last.GetVersion(), last.GetPosition().GetTwenty48().GetLegalMoves()[0])
			if _, err := s.Move(p.ctx, request); err != nil { // The test was too slow.
				wantReason(t, err, pb.ReasonGameOver)
				break
			}
			last = watching.event(t)
			if last.GetMoved() != nil {
				assert.Equal(t, last.GetTime().AsTime().Add(limit), last.GetPosition().GetTurnDeadline().AsTime())
			}
		}
		end := last
		if end.GetResult() == nil {
			end = watching.event(t)
		}
		watching.end(t)
		require.NotNil(t, end.GetTimedOut())
		assert.Zero(t, end.GetSeat())
		assert.Equal(t, pb.Result_REASON_TIMED_OUT, end.GetResult().GetReason())
		assert.Empty(t, end.GetTimedOut().GetStandIn())
		if last != end {
			assert.False(t, end.GetTime().AsTime().Before(last.GetPosition().GetTurnDeadline().AsTime()), "too early")
		}
		over := s.get(t, g.GetId())
		assert.True(t, over.GetRanked())
		_, err := s.Move(p.ctx, slide(g.GetId(), end.GetVersion(), pb.Direction_DIRECTION_UP))
		wantReason(t, err, pb.ReasonGameOver)
		eventually(t, "its score counts", func() bool {
			entry, err := s.rank(t, p, "6x6", 0)
			return end.GetResult().GetScores()[0] == 0 || err == nil && entry.GetGameId() == g.GetId()
		})

		// A game continues as long as each move is within the turn limit.
		g = s.clocked(t, p, "classic", time.Hour)
		s.moves(t, p, g, 20)
		s.resign(t, p, g.GetId())
	}, quickClocks)
}

// Ensure that a game against bots ends when the last human's clock runs out, and that the
// best seat wins.
func TestClock_LastHuman(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		for {
			g := s.clocked(t, p, "tribolo", 50*time.Millisecond)
			if g.GetPosition().GetTurn() != 0 {
				assert.Nil(t, g.GetPosition().GetTurnDeadline(), "a bot has no clock")
				s.resign(t, p, g.GetId())
				continue
			}
			watching := s.watch(t, s.anyone, from(g.GetId(), 1))
			end := watching.event(t)
			watching.end(t)
			require.NotNil(t, end.GetTimedOut())
			assert.Equal(t, pb.Result_REASON_TIMED_OUT, end.GetResult().GetReason())
			assert.Equal(t, []int32{0, 1, 2}, end.GetResult().GetWinners(), "every seat has 12 cells and none has resigned")
			_, err := s.rank(t, p, "tribolo", 0)
			wantReason(t, err, pb.ReasonNoScore)
			return
		}
	}, quickClocks)
}

// Ensure that a stand-in plays for a player whose time ran out until the player takes the
// seat back, and that the player then gets a full turn.
func TestClock_StandIn(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	each(t, func(t *testing.T, s *testServer) {
		players := [3]player{s.player(t), s.player(t), s.player(t)}
		const limit = 4 * time.Second
		g := s.clocked(t, players[0], "tribolo", limit, callerSeat, openSeat, openSeat)
		id := g.GetId()
		s.join(t, players[1], id)
		g = s.join(t, players[2], id)
		turn := g.GetPosition().GetTurn()
		late, next := players[turn], players[(turn+1)%3]
		watching := s.watch(t, s.anyone, from(id, 3))
		to := g.GetPosition().GetTribolo().GetLegalMoves()[0].GetCell()
		var out, moved *pb.Event

		t.Run("the clock runs out", func(t *testing.T) {
			out = watching.event(t)
			require.NotNil(t, out.GetTimedOut())
			require.Equal(t, turn, out.GetSeat())
			assert.GreaterOrEqual(t, out.GetTime().AsTime().Sub(g.GetUpdateTime().AsTime()), limit)
			sameBoard(t, g.GetPosition(), out.GetPosition())
		})
		t.Run("the stand-in holds the seat", func(t *testing.T) {
			held := s.get(t, id)
			assert.Equal(t, "greedy", held.GetSeats()[turn].GetStandIn())
			assert.Equal(t, late.GetId(), held.GetSeats()[turn].GetPlayer().GetId())
			for _, byBot := range []bool{false, true} {
				request := cell(id, out.GetVersion(), to.GetX(), to.GetY())
				request.ByBot = byBot
				_, err := s.Move(late.ctx, request)
				wantReason(t, err, pb.ReasonNotYourTurn)
			}
		})
		t.Run("another player cannot take the seat", func(t *testing.T) {
			_, err := s.joins(next, id, turn)
			wantReason(t, err, pb.ReasonSeatTaken)
			assert.Equal(t, out.GetVersion(), s.join(t, next, id).GetVersion(), "joining with a seat changes nothing")
		})
		t.Run("its player takes it back and gets a full turn", func(t *testing.T) {
			back := s.join(t, late, id)
			assert.Empty(t, back.GetSeats()[turn].GetStandIn())
			joined := watching.event(t)
			require.NotNil(t, joined.GetJoined())
			assert.Equal(t, turn, joined.GetSeat())
			assert.Equal(t, joined.GetTime().AsTime().Add(limit), joined.GetPosition().GetTurnDeadline().AsTime())
			assert.Equal(t, joined.GetVersion(), s.join(t, late, id, turn).GetVersion(), "joining again changes nothing")
			response, err := s.Move(late.ctx, cell(id, joined.GetVersion(), to.GetX(), to.GetY()))
			require.NoError(t, err)
			moved = response.GetEvent()
			assert.True(t, proto.Equal(moved, watching.event(t)))
			assert.Equal(t, moved.GetTime().AsTime().Add(limit), moved.GetPosition().GetTurnDeadline().AsTime())
		})
		t.Run("a resignation out of turn leaves the running clock alone", func(t *testing.T) {
			at := moved.GetPosition()
			other := players[(at.GetTurn()+1)%3]
			resigned := s.resign(t, other, id)
			assert.True(t, proto.Equal(at.GetTurnDeadline(), resigned.GetPosition().GetTurnDeadline()))
		})
	}, quickClocks)
}

// Ensure that stand-ins replace one player after another, that a player who resigned the seat
// does not get it back, and that the game ends when the last player's clock runs out.
func TestClock_OneAfterTheOther(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	each(t, func(t *testing.T, s *testServer) {
		host, guest := s.player(t), s.player(t)
		g := s.clocked(t, host, "tribolo", 2*time.Second, callerSeat, openSeat, callerSeat)
		id := g.GetId()
		watching := s.watch(t, s.anyone, from(id, 1))
		s.join(t, guest, id)
		watching.event(t)
		first := watching.event(t)
		require.NotNil(t, first.GetTimedOut())
		who := map[int32]player{0: host, 1: guest, 2: host}
		gone := first.GetSeat()
		quitting, err := s.Resign(who[gone].ctx, &pb.ResignRequest{GameId: id, Seat: &gone})
		require.NoError(t, err, "even while a stand-in plays")
		watching.event(t)
		joined, err := s.joins(who[gone], id, gone)
		require.NoError(t, err)
		assert.True(t, joined.GetSeats()[gone].GetResigned())
		assert.GreaterOrEqual(t, joined.GetVersion(), quitting.GetEvent().GetVersion())
		var outs []*pb.Event
		for {
			update := watching.next(t)
			if update == nil {
				break
			}
			outs = append(outs, update.GetEvent())
		}
		require.NotEmpty(t, outs)
		last := outs[len(outs)-1]
		require.NotNil(t, last.GetTimedOut())
		assert.Equal(t, pb.Result_REASON_TIMED_OUT, last.GetResult().GetReason())
		assert.NotContains(t, last.GetResult().GetWinners(), gone)
	}, func(c *server.Config) { c.MinTurnLimit, c.BotPace = time.Millisecond, 0 })
}

// Ensure that only servers that are configured for it accept turn limits below the contract's
// minimum.
func TestClock_Floor(t *testing.T) {
	t.Parallel()
	s := start(t, server.Memory, func(c *server.Config) { c.MinTurnLimit = time.Second })
	p := s.player(t)
	s.clocked(t, p, "classic", time.Second)
	_, err := s.CreateGame(p.ctx, &pb.CreateGameRequest{Variant: "classic", TurnLimit: durationpb.New(time.Second - 1)})
	wantField(t, err, "turn_limit")
}
