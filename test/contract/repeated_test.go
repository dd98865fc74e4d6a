package contract

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that a repeated call takes effect once and gets the same answer, over another protocol, and
// that a call with the same request_id, but another content, is refused.
func TestRepeated(t *testing.T) {
	t.Parallel()
	s := serve(t)
	p, other := s.player(t), s.player(t)
	id := newID()
	spelled := &pb.CreateGameRequest{Variant: "classic", RequestId: id, Seats: seats("caller")}
	run := shortRace()
	run.RequestId = newID()
	for _, row := range []struct {
		request, equal proto.Message
		others         []proto.Message
	}{
		{&pb.CreateGameRequest{Variant: "classic", RequestId: id}, spelled, []proto.Message{
			&pb.CreateGameRequest{Variant: "twos", RequestId: id}, &pb.CreateGameRequest{Variant: "classic", RequestId: id, Private: true},
			&pb.CreateGameRequest{Variant: "classic", RequestId: id, TurnLimit: durationpb.New(time.Minute)},
			&pb.CreateGameRequest{Variant: "classic", RequestId: id, Seats: seats("open")},
		}},
		{run, run, []proto.Message{&pb.CreateChallengeRequest{Kind: race, Variant: "twos", Limit: run.GetLimit(), RequestId: run.GetRequestId()}}},
	} {
		first, err := s.send(p.ctx, row.request)
		require.NoError(t, err)
		for i, protocol := range protocols {
			again, err := s.over(t, protocol).send(p.ctx, []proto.Message{row.request, row.equal}[i%2])
			require.NoError(t, err)
			same(t, first, again)
		}
		for _, changed := range row.others {
			s.refuses(t, p.ctx, changed, "request_id")
		}
		theirs, err := s.send(other.ctx, row.request)
		require.NoError(t, err)
		assert.False(t, proto.Equal(first, theirs), "request ids are separate for each caller")
	}
}

// Ensure that a repeated move, undo or resignation returns its event again, even if it is so old that
// no server has it in memory, or the game is over, and that a repeated CreateGame returns the
// game's current state.
func TestRepeated_Events(t *testing.T) {
	t.Parallel()
	s := serve(t)
	p := s.player(t)
	request := &pb.CreateGameRequest{Variant: "6x6", RequestId: newID()}
	g := s.create(t, p, request)
	id := g.GetId()
	made := s.moves(t, p, g, 5)             // now at version 6
	last := s.undo(t, p, id, 6)             // undoes to version 5
	named := s.undo(t, p, id, 7, 2)         // undoes to version 2
	late := s.moves(t, p, s.get(t, id), 90) // evicts the earlier events from memory
	assert.EqualValues(t, 5, last.GetUndone().GetToVersion())
	same(t, s.get(t, id), s.create(t, p, request))
	check := func() {
		t.Helper()
		for _, e := range append(made[:5:5], late...) {
			again, err := s.Move(p.ctx, slide(id, e.GetVersion()-1, e.GetMoved().GetDirection()))
			require.NoError(t, err)
			same(t, e, again.GetEvent())
		}
		same(t, last, s.undo(t, p, id, 6))
		same(t, last, s.undo(t, p, id, 6, 5))
		same(t, named, s.undo(t, p, id, 7, 2))
	}
	check()
	for _, changed := range []*pb.UndoRequest{
		{Version: 6, ToVersion: proto.Int32(4)}, {Version: 7}, {Version: 5}, {Version: 8, ToVersion: proto.Int32(2)},
	} {
		changed.GameId = id
		s.refuses(t, p.ctx, changed, pb.ReasonVersionConflict+" 98")
	}
	resigned := s.resign(t, p, id)
	assert.EqualValues(t, 99, resigned.GetVersion())
	check()
	for _, again := range []*pb.ResignRequest{{}, {Version: proto.Int32(999)}, {Version: proto.Int32(1)}, {Seat: proto.Int32(0)}} {
		again.GameId = id
		got, err := s.Resign(p.ctx, again)
		require.NoError(t, err)
		same(t, resigned, got.GetEvent())
	}
	assert.Equal(t, finished, s.create(t, p, request).GetStatus())
	s.verified(t, id)
}

// Ensure that of concurrent calls on two servers that exclude each other one takes effect, that the others
// get its answer or the contract's error, and that equal calls all get the same answer.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	s, elsewhere := pair(t, patientBots)
	p := s.player(t)
	newGame := func(variant string) *pb.Game { return s.game(t, p, variant) }
	move := newGame("classic")
	legal := func(g *pb.Game, n int) pb.Direction {
		all := g.GetPosition().GetTwenty48().GetLegalMoves()
		return all[n%len(all)]
	}
	moves, resigned := newGame("classic"), newGame("classic")
	last := s.table(t, p, callerSeat, botSeat("greedy"), openSeat).GetId()
	empty := s.table(t, p, openSeat, openSeat, openSeat).GetId()
	guests := []player{s.player(t), s.player(t), s.player(t)}
	tiles := s.challenge(t, p, &pb.CreateChallengeRequest{Kind: link, Variant: "classic"}).GetId()
	id, mixed, challengeID, secrets := newID(), newID(), newID(), []string{newID(), newID(), newID()}
	type call struct {
		who     player
		request proto.Message
	}
	for _, tt := range []struct {
		name string
		call func(n int) call
		lose string // the error of calls that come too late
	}{
		{"the same move", func(int) call { return call{p, slide(move.GetId(), 1, legal(move, 0))} }, ""},
		{"other moves", func(n int) call { return call{p, slide(moves.GetId(), 1, legal(moves, n))} }, pb.ReasonVersionConflict},
		{"the same resignation", func(int) call { return call{p, &pb.ResignRequest{GameId: resigned.GetId()}} }, ""},
		{"the last seat", func(n int) call { return call{guests[n%3], &pb.JoinGameRequest{GameId: last}} }, pb.ReasonSeatTaken},
		{"one player joins", func(int) call { return call{guests[0], &pb.JoinGameRequest{GameId: empty}} }, ""},
		{"the same game", func(int) call { return call{p, &pb.CreateGameRequest{Variant: "classic", RequestId: id}} }, ""},
		{"other games", func(n int) call {
			return call{p, &pb.CreateGameRequest{Variant: []string{"classic", "twos", "3x3"}[n%3], RequestId: mixed}}
		}, "request_id"},
		{"an attempt", func(int) call { return call{p, &pb.CreateGameRequest{ChallengeId: tiles}} }, ""},
		{"other challenges", func(n int) call {
			return call{p, &pb.CreateChallengeRequest{Kind: link, Variant: "classic", Private: n%2 == 0, RequestId: challengeID}}
		}, "request_id"},
		{"the same name", func(n int) call {
			return call{player{ctx: s.anyone}, &pb.CreatePlayerRequest{Name: []string{"Every", "every"}[n%2], Secret: secrets[n%3]}}
		}, pb.ReasonNameTaken},
	} {
		var group sync.WaitGroup
		const calls = 12
		answers, errs := make([]proto.Message, calls), make([]error, calls)
		for n := range answers {
			group.Go(func() {
				c := tt.call(n)
				answers[n], errs[n] = []*testServer{s, elsewhere}[n/6].send(c.who.ctx, c.request)
				if created, ok := answers[n].(*pb.CreateChallengeResponse); ok && errs[n] == nil {
					created.GetChallenge().Status = 0 // which depends on the time of the answer
				}
			})
		}
		group.Wait()
		won := slices.Index(errs, nil)
		require.NotEqual(t, -1, won, "%s: no call succeeded", tt.name)
		for n, err := range errs {
			if err != nil && tt.lose != "" {
				wanted(t, err, tt.lose)
				continue
			}
			require.NoError(t, err, tt.name)
			same(t, answers[won], answers[n])
		}
	}
	assert.Equal(t, int32(2), s.get(t, moves.GetId()).GetVersion())
	assert.Equal(t, []string{guests[0].GetId(), "", ""}, sits(s.get(t, empty)))
	assert.Len(t, s.list(t, p, &pb.ListGamesRequest{PlayerId: "me"}), 8)
}
