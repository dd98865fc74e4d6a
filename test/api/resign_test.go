package api

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// three sits three players down at a table.
func (s *testServer) three(t testing.TB) (*pb.Game, [3]player) {
	t.Helper()
	players := [3]player{s.player(t), s.player(t), s.player(t)}
	g := s.table(t, players[0], callerSeat, openSeat, openSeat)
	s.join(t, players[1], g.GetId())
	return s.join(t, players[2], g.GetId()), players
}

// jump makes any legal move for the seat that is to move, which is p's.
func (s *testServer) jump(t testing.TB, p player, id string, version int32, at *pb.Position) *pb.Event {
	t.Helper()
	legal := at.GetTribolo().GetLegalMoves()
	require.NotEmpty(t, legal)
	to := legal[rand.IntN(len(legal))].GetCell()
	moved, err := s.Move(p.ctx, cell(id, version, to.GetX(), to.GetY()))
	require.NoError(t, err)
	return moved.GetEvent()
}

// jumps makes n moves, or as many as there are, for the players who hold the
// seats.
func (s *testServer) jumps(t testing.TB, players [3]player, id string, n int) *pb.Game {
	t.Helper()
	g := s.get(t, id)
	version, at := g.GetVersion(), g.GetPosition()
	for range n {
		if at.Turn == nil {
			break
		}
		event := s.jump(t, players[at.GetTurn()], id, version, at)
		version, at = event.GetVersion(), event.GetPosition()
	}
	return s.get(t, id)
}

// Ensure that a seat resigns in turn and out of turn, is passed over from then
// on, and that the last one left wins.
func TestResign_OneOfThree(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		for _, ahead := range []int32{0, 1, 2} { // Who is to move, and those after.
			g, players := s.three(t)
			g = s.jumps(t, players, g.GetId(), 7)
			id := g.GetId()
			quitter := (g.GetPosition().GetTurn() + ahead) % 3
			resigned, err := s.Resign(players[quitter].ctx, &pb.ResignRequest{GameId: id, Version: proto.Int32(g.GetVersion())})
			require.NoError(t, err)
			e := resigned.GetEvent()
			assert.Equal(t, quitter, e.GetSeat())
			assert.Nil(t, e.GetResult())
			assert.False(t, e.GetRanked(), "three humans")
			if ahead > 0 {
				assert.Equal(t, g.GetPosition().GetTurn(), e.GetPosition().GetTurn(), "the turn is the other's")
			}
			assert.NotEqual(t, quitter, e.GetPosition().GetTurn())
			assert.True(t, s.get(t, id).GetSeats()[quitter].GetResigned())

			_, err = s.Move(players[quitter].ctx, cell(id, e.GetVersion(), 0, 0))
			wantReason(t, err, pb.ReasonNotYourTurn)
			for _, version := range []*int32{nil, proto.Int32(1), proto.Int32(math.MaxInt32)} {
				again, err := s.Resign(players[quitter].ctx, &pb.ResignRequest{GameId: id, Version: version})
				require.NoError(t, err)
				assert.True(t, proto.Equal(resigned, again))
			}
			_, err = s.Resign(players[quitter].ctx, &pb.ResignRequest{GameId: id, Seat: proto.Int32((quitter + 1) % 3)})
			wantReason(t, err, pb.ReasonNotSeated)

			now := s.jumps(t, players, id, 6)
			for _, event := range s.transcript(t, id, e.GetVersion()) {
				assert.NotEqual(t, quitter, event.GetSeat(), "passed over")
			}
			if now.GetStatus() == finished { // No move was left.
				continue
			}
			next := (quitter + 1) % 3
			end := s.resign(t, players[next], id)
			require.Equal(t, pb.Result_REASON_RESIGNED, end.GetResult().GetReason())
			assert.Equal(t, []int32{(quitter + 2) % 3}, end.GetResult().GetWinners(), "the one who is left, with however many cells")
			_, err = s.Resign(players[(quitter+2)%3].ctx, &pb.ResignRequest{GameId: id})
			wantReason(t, err, pb.ReasonGameOver)
			assert.True(t, proto.Equal(resigned.GetEvent(), s.resign(t, players[quitter], id)), "a repeat, also after the end")
			for _, p := range players {
				_, err := s.rank(t, p, "tribolo", 0)
				wantReason(t, err, pb.ReasonNoScore)
			}
		}
	})
}

// transcript is the events of a game after a version, to its current one.
func (s *testServer) transcript(t testing.TB, id string, after int32) []*pb.Event {
	t.Helper()
	last := s.get(t, id).GetVersion()
	w := s.watch(t, s.anyone, from(id, after))
	defer w.leave()
	var events []*pb.Event
	for w.history.Version() < last {
		events = append(events, w.event(t))
	}
	return events
}

// Ensure that a game that its humans have left ends, and that the best of the
// bots wins.
func TestResign_NoHumanLeft(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		p, q := s.player(t), s.player(t)
		g := s.table(t, p)
		end := s.resign(t, p, g.GetId())
		assert.Equal(t, pb.Result_REASON_RESIGNED, end.GetResult().GetReason())
		assert.Equal(t, []int32{1, 2}, end.GetResult().GetWinners(), "12 cells each")
		assert.Equal(t, []int32{12, 12, 12}, end.GetResult().GetScores())

		g = s.table(t, p, callerSeat, openSeat, botSeat("greedy"))
		s.join(t, q, g.GetId())
		assert.Nil(t, s.resign(t, q, g.GetId()).GetResult(), "one human is left")
		end = s.resign(t, p, g.GetId())
		assert.Equal(t, pb.Result_REASON_RESIGNED, end.GetResult().GetReason())
		assert.Equal(t, []int32{2}, end.GetResult().GetWinners())
	}, patientBots)
}

// Ensure that a player with several seats resigns the right one: the named one,
// else the one to move, else the lowest.
func TestResign_HotSeat(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		g := s.table(t, p, callerSeat, callerSeat, callerSeat)
		turn := g.GetPosition().GetTurn()
		first, err := s.Resign(p.ctx, &pb.ResignRequest{GameId: g.GetId(), Version: proto.Int32(1)})
		require.NoError(t, err)
		assert.Equal(t, turn, first.GetEvent().GetSeat())
		again, err := s.Resign(p.ctx, &pb.ResignRequest{GameId: g.GetId(), Version: proto.Int32(1)})
		require.NoError(t, err)
		assert.True(t, proto.Equal(first, again), "sent again it gives up no second seat")
		again, err = s.Resign(p.ctx, &pb.ResignRequest{GameId: g.GetId(), Seat: &turn})
		require.NoError(t, err)
		assert.True(t, proto.Equal(first, again))
		_, err = s.Resign(p.ctx, &pb.ResignRequest{GameId: g.GetId(), Version: proto.Int32(1), Seat: proto.Int32((turn + 1) % 3)})
		wantConflict(t, err, 2)
		end, err := s.Resign(p.ctx, &pb.ResignRequest{GameId: g.GetId(), Seat: proto.Int32((turn + 2) % 3)})
		require.NoError(t, err)
		assert.Equal(t, []int32{(turn + 1) % 3}, end.GetEvent().GetResult().GetWinners())
	})
}

// alone plays a game of Tribolo to its end, in which the player has the only human
// seat and the bots the others.
func (s *testServer) alone(t testing.TB, p player, g *pb.Game, byBot bool) *pb.Event {
	t.Helper()
	watching := s.watch(t, s.anyone, &pb.WatchRequest{GameId: g.GetId(), AfterVersion: proto.Int32(0), EveryEvent: true})
	for {
		e := watching.event(t)
		if e.GetResult() != nil {
			return e
		}
		turn := e.GetPosition().GetTurn()
		if g.GetSeats()[turn].GetPlayer() == nil {
			continue
		}
		to := e.GetPosition().GetTribolo().GetLegalMoves()[0].GetCell()
		request := cell(g.GetId(), e.GetVersion(), to.GetX(), to.GetY())
		request.ByBot = byBot
		moved, err := s.Move(p.ctx, request)
		require.NoError(t, err)
		assert.Equal(t, byBot, moved.GetEvent().GetMoved().GetByBot())
		assert.Equal(t, g.GetRanked() && !byBot, moved.GetEvent().GetRanked())
	}
}

// Ensure that Tribolo's leaderboard takes the scores of one player against the
// server's bots, played to the end, and no others: with a second human seat one
// could win with one's own puppets.
func TestScores_Tribolo(t *testing.T) {
	if testing.Short() {
		t.Skip("plays long games")
	}
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		none := func(players ...player) {
			t.Helper()
			for _, p := range players {
				_, err := s.rank(t, p, "tribolo", 0)
				wantReason(t, err, pb.ReasonNoScore)
			}
		}
		g, players := s.three(t)
		over := s.jumps(t, players, g.GetId(), math.MaxInt32)
		require.Equal(t, pb.Result_REASON_NO_MOVES, over.GetResult().GetReason())
		assert.False(t, over.GetRanked())
		none(players[:]...)

		p := players[0]
		for _, seats := range [][]*pb.SeatRequest{
			{callerSeat, botSeat("greedy"), callerSeat}, {callerSeat, botSeat("random"), botSeat("greedy")},
		} {
			g = s.table(t, p, seats...)
			assert.False(t, g.GetRanked())
			end := s.alone(t, p, g, false)
			require.Equal(t, pb.Result_REASON_NO_MOVES, end.GetResult().GetReason())
			none(p)
		}
		g = s.table(t, p, botSeat("greedy"), callerSeat, botSeat("original"))
		assert.True(t, g.GetRanked())
		s.resign(t, p, g.GetId())
		none(p)
		s.alone(t, p, s.table(t, p, callerSeat, botSeat("greedy"), botSeat("greedy")), true)
		none(p)

		g = s.table(t, p, botSeat("greedy"), callerSeat, botSeat("original"))
		end := s.alone(t, p, g, false)
		require.Equal(t, pb.Result_REASON_NO_MOVES, end.GetResult().GetReason())
		assert.True(t, end.GetRanked())
		var entry *pb.Entry
		eventually(t, "its score counts, soon if a bot made the last move", func() bool {
			var err error
			entry, err = s.rank(t, p, "tribolo", 0)
			return err == nil
		})
		assert.Equal(t, end.GetResult().GetScores()[1], entry.GetScore())
		assert.Equal(t, g.GetId(), entry.GetGameId())
		assert.Equal(t, p.GetId(), entry.GetPlayer().GetId())
		listed, err := s.ListScores(s.anyone, &pb.ListScoresRequest{Variant: "tribolo"})
		require.NoError(t, err)
		assert.Len(t, listed.GetEntries(), 1, "bots have no place on it")
	}, func(c *server.Config) { c.BotPace = 0 })
}

// Ensure that a call checks the turn after the version, and the rules last.
func TestMove_OrderOfTurns(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		g, players := s.three(t)
		id, version, turn := g.GetId(), g.GetVersion(), g.GetPosition().GetTurn()
		outsider := s.player(t)
		for n := int32(1); n < 3; n++ {
			p := players[(turn+n)%3]
			_, err := s.Move(p.ctx, cell(id, version-1, 0, 0))
			wantConflict(t, err, version)
			_, err = s.Move(p.ctx, cell(id, version+1, 0, 0))
			wantConflict(t, err, version)
			for _, request := range []*pb.MoveRequest{cell(id, version, 0, 0), cell(id, version, -1, 99), slide(id, version, pb.Direction_DIRECTION_UP)} {
				_, err = s.Move(p.ctx, request)
				wantReason(t, err, pb.ReasonNotYourTurn)
				_, err = s.Move(outsider.ctx, request)
				wantReason(t, err, pb.ReasonNotSeated)
			}
		}
		p := players[turn]
		legal := spell(g.GetPosition().GetTribolo().GetLegalMoves())
		for x := int32(-1); x <= boardColumns; x++ {
			for y := int32(-1); y <= boardRows; y++ {
				if _, ok := legal[[2]int32{x, y}]; !ok {
					_, err := s.Move(p.ctx, cell(id, version, x, y))
					wantReason(t, err, pb.ReasonIllegalMove)
				}
			}
		}
		_, err := s.Move(p.ctx, slide(id, version, pb.Direction_DIRECTION_LEFT))
		wantReason(t, err, pb.ReasonIllegalMove)
		moved := s.jump(t, p, id, version, g.GetPosition())
		to := moved.GetMoved().GetCell()
		again, err := s.Move(p.ctx, cell(id, version, to.GetX(), to.GetY()))
		require.NoError(t, err)
		assert.True(t, proto.Equal(moved, again.GetEvent()))
		// Said by another it is another move.
		_, err = s.Move(players[(turn+1)%3].ctx, cell(id, version, to.GetX(), to.GetY()))
		wantConflict(t, err, version+1)
	})
}
