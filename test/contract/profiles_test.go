package contract

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gridstand/gridstand/internal/names"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// profile returns a player's profile.
func (s *testServer) profile(t testing.TB, p player) *pb.GetProfileResponse {
	t.Helper()
	got, err := s.GetProfile(s.anyone, &pb.GetProfileRequest{PlayerId: p.GetId()})
	require.NoError(t, err)
	return got
}

// Ensure that a profile contains the games that count when their end is answered, and nothing of others.
func TestGetProfile(t *testing.T) {
	t.Parallel()
	s := serve(t)
	p := s.player(t)
	same(t, &pb.GetProfileResponse{Player: p.Player, Daily: &pb.DailyRecord{}, Races: &pb.RaceRecord{}}, s.profile(t, p))
	first, second := s.finish(t, p, "vt100"), s.finish(t, p, "classic")
	better := s.game(t, p, "vt100")
	s.moves(t, p, better, 30)
	best := s.resign(t, p, better.GetId())
	require.Greater(t, best.GetPosition().GetScores()[0], first.GetPosition().GetScores()[0])

	s.score(t, p, s.create(t, p, &pb.CreateGameRequest{Variant: "classic", Private: true}))
	s.resign(t, p, s.game(t, p, "classic").GetId()) // without a move
	s.moves(t, p, s.game(t, p, "classic"), 3)
	hidden := s.challenge(t, p, &pb.CreateChallengeRequest{Kind: link, Variant: "classic", Private: true})
	s.score(t, p, s.attempt(t, p, hidden.GetId()))
	cheated := s.challenge(t, p, &pb.CreateChallengeRequest{Kind: link, Variant: "classic"})
	g := s.attempt(t, p, cheated.GetId())
	move := slide(g.GetId(), 1, g.GetPosition().GetTwenty48().GetLegalMoves()[0])
	move.ByBot = true
	_, err := s.Move(p.ctx, move)
	require.NoError(t, err)
	s.resign(t, p, g.GetId())

	want := &pb.GetProfileResponse{Player: p.Player, Daily: &pb.DailyRecord{}, Races: &pb.RaceRecord{}, Variants: []*pb.VariantRecord{
		{
			Variant: "classic", Games: 1, BestScore: second.GetPosition().GetScores()[0], BestGameId: second.GetGameId(), BestTime: second.GetTime(),
		},
		{Variant: "vt100", Games: 2, BestScore: best.GetPosition().GetScores()[0], BestGameId: best.GetGameId(), BestTime: best.GetTime()},
	}}
	for i, e := range []*pb.Event{first, second, best} {
		want.Latest = append(want.Latest, &pb.FinishedGame{
			GameId: e.GetGameId(), Variant: []string{"vt100", "classic", "vt100"}[i], Score: e.GetPosition().GetScores()[0], Time: e.GetTime(),
		})
	}
	same(t, want, s.profile(t, p))
	for _, request := range []*pb.GetProfileRequest{{PlayerId: "me"}, {Name: p.GetName()}} {
		got, err := s.GetProfile(p.ctx, request)
		require.NoError(t, err)
		same(t, want, got)
	}
	s.refuses(t, s.anyone, &pb.GetProfileRequest{Name: "nobody"}, pb.ReasonPlayerNotFound)
}

// Ensure that others find neither a player whom an operator has hidden, nor that player's games, nor their
// name in challenges. With their token, the player still finds them.
func TestHide(t *testing.T) {
	t.Parallel()
	s := start(t, newStore(t, true))
	rude, other := s.player(t), s.player(t)
	g := s.finish(t, rude, "classic")
	entered := s.challenge(t, other, shortRace()).GetId()
	s.enterRace(t, rude, entered, false)
	beat := s.challenge(t, other, &pb.CreateChallengeRequest{Kind: rematch, GameId: g.GetGameId()})
	_, _, err := operator(t, s.store).Hide(t.Context(), rude.GetName())
	require.NoError(t, err)

	for _, request := range []proto.Message{
		&pb.GetPlayerRequest{Name: rude.GetName()}, &pb.GetPlayerRequest{PlayerId: rude.GetId()}, &pb.GetProfileRequest{Name: rude.GetName()},
	} {
		s.refuses(t, other.ctx, request, pb.ReasonPlayerNotFound)
		_, err := s.send(rude.ctx, request)
		require.NoError(t, err)
	}
	list := &pb.ListGamesRequest{PlayerName: rude.GetName(), Status: finished}
	assert.Empty(t, s.list(t, other, list))
	assert.Len(t, s.list(t, rude, list), 1)
	guest := names.Guest(rude.GetId())
	assert.Equal(t, guest, entrantOf(s.readChallenge(t, other, entered).GetChallenge(), rude).GetPlayer().GetName())
	assert.Equal(t, guest, s.readChallenge(t, other, beat.GetId()).GetChallenge().GetTarget().GetPlayer().GetName())
	for _, id := range []string{entered, beat.GetId()} {
		snapshot, err := s.watchRace(t, id, "").Recv()
		require.NoError(t, err)
		assert.NotContains(t, snapshot.String(), rude.GetName())
	}
}

// Ensure that a game against oneself is not won. TestThreePlayers shows one that is.
func TestGetProfile_Wins(t *testing.T) {
	t.Parallel()
	s := serve(t)
	p := s.player(t)
	id := s.table(t, p, callerSeat, callerSeat, callerSeat).GetId()
	s.jumps(t, [3]player{p, p, p}, id, 1)
	_, err := s.Resign(p.ctx, &pb.ResignRequest{GameId: id, Seat: proto.Int32(1)})
	require.NoError(t, err)
	end, err := s.Resign(p.ctx, &pb.ResignRequest{GameId: id, Seat: proto.Int32(2)})
	require.NoError(t, err)
	assert.Equal(t, []int32{0}, end.GetEvent().GetResult().GetWinners(), "the first seat of a player counts")
	same(t, &pb.VariantRecord{Variant: "tribolo", Games: 1}, s.profile(t, p).GetVariants()[0])
}

// Ensure that a race counts once all its attempts are over, that a private one does not, and that the
// record shows present names.
func TestGetProfile_Races(t *testing.T) {
	t.Parallel()
	s, clock := startAt(t, 12)
	ada, bob, eve := s.player(t), s.player(t), s.player(t)
	request := &pb.CreateChallengeRequest{Kind: race, Variant: "classic", Limit: durationpb.New(time.Hour)}
	record := func(p player) (total, won int32, rivals []string) {
		r := s.profile(t, p).GetRaces()
		for _, rival := range r.GetRivals() {
			rivals = append(rivals, fmt.Sprintf("%s %d-%d", rival.GetPlayer().GetName(), rival.GetWon(), rival.GetLost()))
		}
		return r.GetTotal(), r.GetWon(), rivals
	}
	want := func(p player, wantTotal, wantWon int32, wantRivals ...string) {
		t.Helper()
		total, won, rivals := record(p)
		assert.Equal(t, [2]int32{wantTotal, wantWon}, [2]int32{total, won})
		assert.Equal(t, wantRivals, rivals)
	}
	// play plays a race in which each player makes fewer moves than the one before.
	play := func(players ...player) {
		id := s.challenge(t, players[0], request).GetId()
		for _, p := range players {
			s.enterRace(t, p, id, false)
		}
		clock.PassTo(s.startRace(t, players[0], id).GetOpenTime().AsTime())
		for i, p := range players {
			before, _, _ := record(p)
			g := s.attempt(t, p, id)
			s.moves(t, p, g, 10*(len(players)-i))
			after, _, _ := record(p)
			assert.Equal(t, before, after, "others are playing")
			s.resign(t, p, g.GetId())
		}
	}
	play(ada, bob)
	want(ada, 1, 1, bob.GetName()+" 1-0")
	want(bob, 1, 0, ada.GetName()+" 0-1")
	clock.Pass(time.Minute)
	play(bob, eve, ada)
	want(ada, 2, 1, bob.GetName()+" 1-1", eve.GetName()+" 0-1")
	want(eve, 1, 0, bob.GetName()+" 0-1", ada.GetName()+" 1-0")
	request.Private = true
	play(eve, ada)
	_, err := s.Rename(bob.ctx, &pb.RenameRequest{Name: "robert"})
	require.NoError(t, err)
	want(ada, 2, 1, "robert 1-1", eve.GetName()+" 0-1")
}
