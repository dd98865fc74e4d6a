package contract

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

// three creates a game for three players.
func (s *testServer) three(t testing.TB) (*pb.Game, [3]player) {
	t.Helper()
	players := [3]player{s.player(t), s.player(t), s.player(t)}
	g := s.table(t, players[0], callerSeat, openSeat, openSeat)
	s.join(t, players[1], g.GetId())
	return s.join(t, players[2], g.GetId()), players
}

// jump makes a random legal move for p, whose turn it is.
func (s *testServer) jump(t testing.TB, p player, id string, version int32, at *pb.Position) *pb.Event {
	t.Helper()
	legal := at.GetTribolo().GetLegalMoves()
	require.NotEmpty(t, legal)
	to := legal[rand.IntN(len(legal))].GetCell()
	moved, err := s.Move(p.ctx, cell(id, version, to.GetX(), to.GetY()))
	require.NoError(t, err)
	return moved.GetEvent()
}

// jumps makes up to n moves for the players of the game.
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

// Ensure that a seat can resign in turn and out of turn, that it is skipped afterward, and that the
// last remaining seat wins.
func TestResign_OneOfThree(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	each(t, func(t *testing.T, s *testServer) {
		for _, ahead := range []int32{0, 1, 2} { // distance from the seat to move
			var g *pb.Game
			var players [3]player
			var quitter int32
			for others := 0; others == 0; { // If nobody else can move, the resignation ends the game.
				g, players = s.three(t)
				g = s.jumps(t, players, g.GetId(), 7)
				quitter = (g.GetPosition().GetTurn() + ahead) % 3
				board := g.GetPosition().GetTribolo()
				others = len(destinations(board, (quitter+1)%3)) + len(destinations(board, (quitter+2)%3))
			}
			id := g.GetId()
			resigned, err := s.Resign(players[quitter].ctx, &pb.ResignRequest{GameId: id, Version: proto.Int32(g.GetVersion())})
			require.NoError(t, err)
			e := resigned.GetEvent()
			assert.Equal(t, quitter, e.GetSeat())
			assert.Nil(t, e.GetResult())
			assert.False(t, e.GetRanked(), "a game of three humans is not ranked")
			if ahead > 0 {
				assert.Equal(t, g.GetPosition().GetTurn(), e.GetPosition().GetTurn(), "the turn stays with the other seat")
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
				assert.NotEqual(t, quitter, event.GetSeat(), "a resigned seat moved")
			}
			if now.GetStatus() == finished { // No legal moves were left.
				continue
			}
			next := (quitter + 1) % 3
			end := s.resign(t, players[next], id)
			require.Equal(t, pb.Result_REASON_RESIGNED, end.GetResult().GetReason())
			assert.Equal(t, []int32{(quitter + 2) % 3}, end.GetResult().GetWinners(), "the last remaining seat wins regardless of its cells")
			_, err = s.Resign(players[(quitter+2)%3].ctx, &pb.ResignRequest{GameId: id})
			wantReason(t, err, pb.ReasonGameOver)
			assert.True(t, proto.Equal(resigned.GetEvent(), s.resign(t, players[quitter], id)), "a repeat after the end")
			for _, p := range players {
				_, err := s.rank(t, p, "tribolo", 0)
				wantReason(t, err, pb.ReasonNoScore)
			}
		}
	})
}

// transcript returns the events of a game after the given version, up to the game's current one.
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

// Ensure that a game ends when all humans have left it, and that the best bot wins.
func TestResign_NoHumanLeft(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		p, q := s.player(t), s.player(t)
		g := s.table(t, p)
		end := s.resign(t, p, g.GetId())
		assert.Equal(t, pb.Result_REASON_RESIGNED, end.GetResult().GetReason())
		assert.Equal(t, []int32{1, 2}, end.GetResult().GetWinners(), "the bots have 12 cells each")
		assert.Equal(t, []int32{12, 12, 12}, end.GetResult().GetScores())

		g = s.table(t, p, callerSeat, openSeat, botSeat("greedy"))
		s.join(t, q, g.GetId())
		assert.Nil(t, s.resign(t, q, g.GetId()).GetResult(), "one human remains")
		end = s.resign(t, p, g.GetId())
		assert.Equal(t, pb.Result_REASON_RESIGNED, end.GetResult().GetReason())
		assert.Equal(t, []int32{2}, end.GetResult().GetWinners())
	}, patientBots)
}

// Ensure that a player with several seats resigns the right one: the seat in the request,
// otherwise the seat to move, otherwise the lowest seat.
func TestResign_HotSeat(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		g := s.table(t, p, callerSeat, callerSeat, callerSeat)
		turn := g.GetPosition().GetTurn()
		first, err := s.Resign(p.ctx, &pb.ResignRequest{GameId: g.GetId(), Version: proto.Int32(1)})
		require.NoError(t, err)
		assert.Equal(t, turn, first.GetEvent().GetSeat())
		again, err := s.Resign(p.ctx, &pb.ResignRequest{GameId: g.GetId(), Version: proto.Int32(1)})
		require.NoError(t, err)
		assert.True(t, proto.Equal(first, again), "a repeat must not resign a second seat")
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

// alone plays a game of Tribolo to its end. The player has the only human seat, or all human
// seats.
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

// Ensure that Tribolo's leaderboard counts only games of one player against the server's bots
// that were played to the end. With a second human seat, a player could win against their own
// second account.
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
		eventually(t, "the score counts", func() bool {
			var err error
			entry, err = s.rank(t, p, "tribolo", 0)
			return err == nil
		})
		assert.Equal(t, end.GetResult().GetScores()[1], entry.GetScore())
		assert.Equal(t, g.GetId(), entry.GetGameId())
		assert.Equal(t, p.GetId(), entry.GetPlayer().GetId())
		listed, err := s.ListScores(s.anyone, &pb.ListScoresRequest{Variant: "tribolo"})
		require.NoError(t, err)
		assert.Len(t, listed.GetEntries(), 1, "bots are not on the leaderboard")
	}, func(c *server.Config) { c.BotPace = 0 })
}

// Ensure that a call checks the version before the turn, and the rules last.
func TestMove_OrderOfTurns(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
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
		// The same move by another player is a different move.
		_, err = s.Move(players[(turn+1)%3].ctx, cell(id, version, to.GetX(), to.GetY()))
		wantConflict(t, err, version+1)
	})
}
