package contract

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// undo undoes moves back to the given version, or only the player's last move if no version is
// given.
func (s *testServer) undo(p player, id string, version int32, to ...int32) (*pb.Event, error) {
	request := &pb.UndoRequest{GameId: id, Version: version}
	if len(to) > 0 {
		request.ToVersion = &to[0]
	}
	undone, err := s.Undo(p.ctx, request)
	return undone.GetEvent(), err
}

func (s *testServer) undoes(t testing.TB, p player, id string, version int32, to ...int32) *pb.Event {
	t.Helper()
	e, err := s.undo(p, id, version, to...)
	require.NoError(t, err)
	return e
}

// sameBoard requires two positions to be equal except for the clock.
func sameBoard(t testing.TB, want, got *pb.Position) {
	t.Helper()
	want, got = proto.CloneOf(want), proto.CloneOf(got)
	want.TurnDeadline, got.TurnDeadline = nil, nil
	require.True(t, proto.Equal(want, got), "the positions differ")
}

// Ensure that each undo goes back one more move, and never to an undone version.
func TestUndo_Chain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		g := s.game(t, p, "classic")
		id := g.GetId()
		watching := s.watch(t, s.anyone, from(id, 1))
		boards := []*pb.Position{nil, g.GetPosition()} // by version
		for _, e := range s.moves(t, p, g, 4) {
			boards = append(boards, e.GetPosition())
		}
		var e *pb.Event
		leadsTo := func(t *testing.T, version int32) {
			t.Helper()
			assert.Equal(t, version, e.GetUndone().GetToVersion())
			sameBoard(t, boards[version], e.GetPosition())
		}

		t.Run("each undo goes one move further back", func(t *testing.T) {
			e = s.undoes(t, p, id, 5)
			assert.EqualValues(t, 6, e.GetVersion())
			leadsTo(t, 4)
			assert.Zero(t, e.GetSeat())
			assert.False(t, e.GetRanked())
			e = s.undoes(t, p, id, 6)
			leadsTo(t, 3)
			assert.EqualValues(t, 2, e.GetPosition().GetMoveCount())
		})
		t.Run("undoing another move returns to the version before it", func(t *testing.T) {
			moved := s.move(t, p, id, 7, e.GetPosition())
			assert.EqualValues(t, 8, moved.GetVersion())
			assert.False(t, moved.GetRanked(), "a game never becomes ranked again")
			e = s.undoes(t, p, id, 8)
			assert.EqualValues(t, 7, e.GetUndone().GetToVersion())
			sameBoard(t, boards[3], e.GetPosition())
		})
		t.Run("undo stops at the beginning", func(t *testing.T) {
			e = s.undoes(t, p, id, 9)
			leadsTo(t, 2)
			e = s.undoes(t, p, id, 10)
			leadsTo(t, 1)
			_, err := s.undo(p, id, 11)
			wantReason(t, err, pb.ReasonUndoNotAllowed)
		})
		t.Run("an undo can return to an undone version", func(t *testing.T) {
			e = s.undoes(t, p, id, 11, 5)
			leadsTo(t, 5)
			e = s.undoes(t, p, id, 12)
			leadsTo(t, 4)
			e = s.undoes(t, p, id, 13, 1) // restarts the game
			leadsTo(t, 1)
			assert.Zero(t, e.GetPosition().GetMoveCount())
		})
		t.Run("spectators receive all events", func(t *testing.T) {
			for watching.history.Version() < e.GetVersion() {
				watching.event(t)
			}
			assert.True(t, proto.Equal(e.GetPosition(), watching.last))
		})
		t.Run("the score no longer counts", func(t *testing.T) {
			now := s.get(t, id)
			assert.False(t, now.GetRanked())
			s.moves(t, p, now, 13)
			require.Positive(t, s.resign(t, p, id).GetResult().GetScores()[0])
			_, err := s.rank(t, p, "classic", 0)
			wantReason(t, err, pb.ReasonNoScore)
		})
	})
}

// Ensure that only an exact repeat of an undo returns its event.
func TestUndo_Again(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		g := s.game(t, p, "6x6")
		id := g.GetId()
		s.moves(t, p, g, 5)               // now at version 6
		last := s.undoes(t, p, id, 6)     // undoes to version 5
		named := s.undoes(t, p, id, 7, 2) // undoes to version 2
		s.moves(t, p, s.get(t, id), 90)   // evicts the earlier events from memory
		check := func() {
			for _, tt := range []struct {
				event *pb.Event
				at    int32
				to    []int32
			}{{last, 6, nil}, {last, 6, []int32{5}}, {named, 7, []int32{2}}} {
				assert.True(t, proto.Equal(tt.event, s.undoes(t, p, id, tt.at, tt.to...)))
			}
		}
		check()
		version := s.get(t, id).GetVersion()
		for _, tt := range []struct {
			at int32
			to []int32
		}{{6, []int32{4}}, {7, []int32{5}}, {7, nil}, {5, nil}, {8, []int32{2}}, {1, nil}, {math.MaxInt32, nil}} {
			_, err := s.undo(p, id, tt.at, tt.to...)
			wantConflict(t, err, version)
		}
		s.resign(t, p, id)
		check()
		_, err := s.undo(p, id, 7)
		wantReason(t, err, pb.ReasonGameOver)
		_, err = s.undo(p, id, version+1)
		wantReason(t, err, pb.ReasonGameOver)
	})
}

// Ensure that undo performs its checks in the order that the contract specifies.
func TestUndo_Order(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		p, other := s.player(t), s.player(t)
		solo := s.game(t, p, "classic")
		s.moves(t, p, solo, 3)
		for _, id := range []string{newID(), solo.GetId()} {
			for _, version := range []int32{0, -1, math.MinInt32} {
				_, err := s.undo(other, id, version)
				wantField(t, err, "version")
			}
			for _, to := range []int32{0, -1, 4, 5, math.MaxInt32} {
				_, err := s.undo(other, id, 4, to)
				wantField(t, err, "to_version")
			}
		}
		_, err := s.undo(other, solo.GetId(), 99)
		wantReason(t, err, pb.ReasonNotSeated)
		for _, version := range []int32{1, 3, 5, 99} {
			_, err = s.undo(p, solo.GetId(), version)
			wantConflict(t, err, 4)
		}

		fresh := s.game(t, p, "classic")
		_, err = s.undo(p, fresh.GetId(), 1)
		wantReason(t, err, pb.ReasonUndoNotAllowed)

		g, players := s.three(t)
		g = s.jumps(t, players, g.GetId(), 4)
		for _, to := range [][]int32{nil, {1}, {3}, {g.GetVersion() - 1}} {
			for _, p := range players {
				_, err = s.undo(p, g.GetId(), g.GetVersion(), to...)
				wantReason(t, err, pb.ReasonUndoNotAllowed)
			}
		}
		assert.False(t, s.get(t, g.GetId()).GetRanked(), "a game of three humans is not ranked")

		// Before the last player joined, seats were open.
		g = s.table(t, p, callerSeat, openSeat, openSeat)
		s.join(t, p, g.GetId(), 1)
		g = s.join(t, p, g.GetId(), 2)
		for _, to := range [][]int32{nil, {1}, {2}} {
			_, err = s.undo(p, g.GetId(), 3, to...)
			wantReason(t, err, pb.ReasonUndoNotAllowed)
		}
		s.jump(t, p, g.GetId(), 3, g.GetPosition())
		_, err = s.undo(p, g.GetId(), 4, 2)
		wantReason(t, err, pb.ReasonUndoNotAllowed)
		sameBoard(t, g.GetPosition(), s.undoes(t, p, g.GetId(), 4).GetPosition())
	})
}

// Ensure that an undo in Tribolo also reverts the bots' replies, even during a bot's turn,
// and that the bots then reply again.
func TestUndo_Bots(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		g := s.table(t, p, botSeat("greedy"), callerSeat, botSeat("random"))
		id := g.GetId()
		watching := s.watch(t, s.anyone, from(id, 0))
		// own reads events until it is the player's turn.
		own := func() *pb.Event {
			for {
				e := watching.event(t)
				require.Nil(t, e.GetResult(), "the game ended too early")
				if e.GetPosition().Turn != nil && e.GetPosition().GetTurn() == 1 {
					return e
				}
			}
		}
		before := own()
		made := s.jump(t, p, id, before.GetVersion(), before.GetPosition())
		answered := own()
		require.Greater(t, answered.GetVersion(), made.GetVersion())
		back := s.undoes(t, p, id, answered.GetVersion())
		assert.Equal(t, before.GetVersion(), back.GetUndone().GetToVersion())
		assert.EqualValues(t, 1, back.GetSeat())
		sameBoard(t, before.GetPosition(), back.GetPosition())

		// During the bots' turn, the undo races with their moves.
		watching.event(t)
		s.jump(t, p, id, back.GetVersion(), back.GetPosition())
		for again := back; ; {
			version := s.get(t, id).GetVersion()
			e, err := s.undo(p, id, version)
			if err == nil {
				assert.Equal(t, again.GetVersion(), e.GetUndone().GetToVersion())
				sameBoard(t, before.GetPosition(), e.GetPosition())
				break
			}
			wantReason(t, err, pb.ReasonVersionConflict)
		}
		e := s.undoes(t, p, id, s.get(t, id).GetVersion(), 1)
		if e.GetPosition().GetTurn() != 1 {
			for watching.history.Version() < e.GetVersion() {
				watching.event(t)
			}
			own() // The bots move first again.
		}
		s.resign(t, p, id)
	}, func(c *server.Config) { c.BotPace = 0 })
}

// Ensure that an undo restores seats that have resigned and restarts the clock.
func TestUndo_Seats(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		g := s.create(t, p, &pb.CreateGameRequest{
			Variant: "tribolo", TurnLimit: durationpb.New(time.Minute), Seats: []*pb.SeatRequest{callerSeat, callerSeat, callerSeat},
		})
		id, turn := g.GetId(), g.GetPosition().GetTurn()
		s.jump(t, p, id, 1, g.GetPosition())
		_, err := s.Resign(p.ctx, &pb.ResignRequest{GameId: id, Version: proto.Int32(2), Seat: &turn})
		require.NoError(t, err)
		require.True(t, s.get(t, id).GetSeats()[turn].GetResigned())
		e := s.undoes(t, p, id, 3)
		assert.EqualValues(t, 1, e.GetUndone().GetToVersion())
		now := s.get(t, id)
		assert.False(t, now.GetSeats()[turn].GetResigned())
		sameBoard(t, g.GetPosition(), now.GetPosition())
		assert.Equal(t, e.GetTime().AsTime().Add(time.Minute), now.GetPosition().GetTurnDeadline().AsTime())
		// The seat can resign again.
		resigned, err := s.Resign(p.ctx, &pb.ResignRequest{GameId: id, Seat: &turn})
		require.NoError(t, err)
		assert.EqualValues(t, 5, resigned.GetEvent().GetVersion())
		e = s.undoes(t, p, id, 5, 3)
		assert.True(t, s.get(t, id).GetSeats()[turn].GetResigned())
		assert.NotEqual(t, turn, e.GetPosition().GetTurn())
	})
}

// Ensure that moves of an attempt at a challenge cannot be undone.
func TestUndo_Attempt(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		g := s.attempt(t, p, s.challenge(t, p, &pb.CreateChallengeRequest{Kind: link, Variant: "classic"}).GetId())
		refused := func(version int32, to ...int32) {
			_, err := s.undo(p, g.GetId(), version, to...)
			wantReason(t, err, pb.ReasonUndoNotAllowed)
			wantMessage(t, err, "moves of an attempt at a challenge cannot be undone")
		}
		refused(1)
		s.move(t, p, g.GetId(), 1, g.GetPosition())
		refused(2)
		refused(2, 1)
	})
}

// Ensure that a server that reads the game from the log can undo as far back as the server that the
// game was played on, and that both show the same game.
func TestUndo_OtherServer(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	a := start(t, redis.URL())
	p := a.player(t)
	g := a.game(t, p, "6x6")
	id := g.GetId()
	made := a.moves(t, p, g, 150) // more than servers keep in memory
	undone := a.undoes(t, p, id, 151, 3)
	sameBoard(t, made[1].GetPosition(), undone.GetPosition())
	a.moves(t, p, a.get(t, id), 80)
	far := a.undoes(t, p, id, 232)
	assert.EqualValues(t, 231, far.GetUndone().GetToVersion())
	a.undoes(t, p, id, 233, 100)

	b := start(t, redis.URL())
	elsewhere := player{p.Player, p.token, b.with(p.token)}
	assert.True(t, proto.Equal(a.get(t, id), b.get(t, id)))
	assert.True(t, proto.Equal(undone, b.undoes(t, elsewhere, id, 151, 3)))
	e := b.undoes(t, elsewhere, id, 234)
	assert.EqualValues(t, 99, e.GetUndone().GetToVersion(), "undo must go back one more move")
	sameBoard(t, made[97].GetPosition(), e.GetPosition())
	moved := a.move(t, p, id, 235, a.get(t, id).GetPosition())
	sameBoard(t, moved.GetPosition(), b.get(t, id).GetPosition())
	e = b.undoes(t, elsewhere, id, 236, 2)
	sameBoard(t, made[0].GetPosition(), e.GetPosition())
	assert.True(t, proto.Equal(a.get(t, id), b.get(t, id)))
	first, second := a.transcript(t, id, 0), b.transcript(t, id, 0)
	require.Len(t, second, len(first))
	for i := range first {
		require.True(t, proto.Equal(first[i], second[i]), "version %d", i+1)
	}
	for _, s := range []*testServer{a, b} {
		listed := s.list(t, player{}, &pb.ListGamesRequest{PlayerId: p.GetId()})
		require.Len(t, listed, 1)
		now := s.get(t, id)
		now.Watchers, listed[0].Watchers = 0, 0 // The server may not have noticed yet that the streams above have ended.
		assert.True(t, proto.Equal(now, listed[0]), "the list must show the same game")
	}
}
