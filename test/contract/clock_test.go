package contract

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
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

// unextended returns the next event other than the extension of a clock: after an outage, and so
// after a stall of the whole machine, the server extends the clocks that were running.
func (w *watcher) unextended(t testing.TB) *pb.Event {
	t.Helper()
	for {
		if e := w.event(t); e.GetClockExtended() == nil {
			return e
		}
	}
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
		end := watching.event(t)
		last := end
		for moves := 0; end.GetResult() == nil; {
			moving, err := moves < 12, error(nil)
			if moving {
				moves++
				_, err = s.Move(p.ctx, slide(g.GetId(), end.GetVersion(), end.GetPosition().GetTwenty48().GetLegalMoves()[0]))
			}
			last, end = end, watching.event(t)
			// On a slow machine, the clock may have run out or have been extended before a move.
			assert.Equal(t, moving && err == nil, end.GetMoved() != nil, "%v", err)
			if end.GetMoved() != nil {
				assert.Equal(t, end.GetTime().AsTime().Add(limit), end.GetPosition().GetTurnDeadline().AsTime())
			}
		}
		watching.end(t)
		require.NotNil(t, end.GetTimedOut())
		assert.Zero(t, end.GetSeat())
		assert.Equal(t, pb.Result_REASON_TIMED_OUT, end.GetResult().GetReason())
		assert.Empty(t, end.GetTimedOut().GetStandIn())
		assert.False(t, end.GetTime().AsTime().Before(last.GetPosition().GetTurnDeadline().AsTime()), "too early")
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
		s.moves(t, p, g, 13)
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
			end := watching.unextended(t)
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
			out = watching.unextended(t)
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
			at := watching.event(t)
			for moved == nil {
				if at.GetClockExtended() == nil {
					require.NotNil(t, at.GetJoined())
					assert.Equal(t, turn, at.GetSeat())
					assert.Equal(t, at.GetTime().AsTime().Add(limit), at.GetPosition().GetTurnDeadline().AsTime())
				}
				response, err := s.Move(late.ctx, cell(id, at.GetVersion(), to.GetX(), to.GetY()))
				moved = response.GetEvent()
				if err == nil {
					break
				}
				// On a slow machine, the clock may run out again before the move, or be extended.
				next := watching.event(t)
				if next.GetTimedOut() != nil {
					assert.False(t, next.GetTime().AsTime().Before(at.GetPosition().GetTurnDeadline().AsTime()))
					s.join(t, late, id)
					next = watching.event(t)
				}
				at = next
			}
			assert.True(t, proto.Equal(moved, watching.event(t)))
			assert.Equal(t, moved.GetTime().AsTime().Add(limit), moved.GetPosition().GetTurnDeadline().AsTime())
			s.join(t, late, id, turn) // Joining again adds no event, so the next one is the resignation.
		})
		t.Run("a resignation out of turn leaves the running clock alone", func(t *testing.T) {
			at := moved.GetPosition()
			other := players[(at.GetTurn()+1)%3]
			resigned := s.resign(t, other, id)
			next := watching.event(t)
			if next.GetTimedOut() != nil || next.GetClockExtended() != nil { // The machine is too slow to tell.
				return
			}
			assert.True(t, proto.Equal(resigned, next))
			assert.True(t, proto.Equal(at.GetTurnDeadline(), resigned.GetPosition().GetTurnDeadline()))
		})
	}, quickClocks)
}

// Ensure that stand-ins replace one player after another, that a player who resigned the seat
// does not get it back, and that the game ends when the last player's clock runs out.
func TestClock_OneAfterTheOther_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	each(t, func(t *testing.T, s *testServer) {
		host, guest := s.player(t), s.player(t)
		who := map[int32]player{0: host, 1: guest, 2: host}
		var watching *watcher
		var gone int32
		// If the last clock runs out before the resignation, the machine needs a longer limit.
		for limit := 2 * time.Second; ; limit *= 4 {
			require.Less(t, limit, patience)
			g := s.clocked(t, host, "tribolo", limit, callerSeat, openSeat, callerSeat)
			id := g.GetId()
			watching = s.watch(t, s.anyone, from(id, 1))
			s.join(t, guest, id)
			watching.event(t)
			first := watching.unextended(t)
			require.NotNil(t, first.GetTimedOut())
			gone = first.GetSeat()
			quitting, err := s.Resign(who[gone].ctx, &pb.ResignRequest{GameId: id, Seat: &gone})
			if err == nil { // A player can resign even while a stand-in plays.
				var joined *pb.Game
				if joined, err = s.joins(who[gone], id, gone); err == nil {
					assert.True(t, joined.GetSeats()[gone].GetResigned())
					assert.GreaterOrEqual(t, joined.GetVersion(), quitting.GetEvent().GetVersion())
					break
				}
			}
			wantReason(t, err, pb.ReasonGameOver)
		}
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
	skipShort(t)
	s := start(t, server.Memory, func(c *server.Config) { c.MinTurnLimit = time.Second })
	p := s.player(t)
	s.clocked(t, p, "classic", time.Second)
	_, err := s.CreateGame(p.ctx, &pb.CreateGameRequest{Variant: "classic", TurnLimit: durationpb.New(time.Second - 1)})
	wantField(t, err, "turn_limit")
}
