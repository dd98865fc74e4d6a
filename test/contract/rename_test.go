package contract

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// rename calls Rename and returns the new name.
func (s *testServer) rename(p player, name string) (string, error) {
	renamed, err := s.Rename(p.ctx, &pb.RenameRequest{Name: name})
	return renamed.GetPlayer().GetName(), err
}

// Ensure that a guest's games keep the name of their time, that boards, every answer with a race and
// the player's data show the new one, that the old name leads to the account, and that a repeated call
// changes nothing, over any protocol.
func TestRename(t *testing.T) {
	t.Parallel()
	s := serve(t)
	guest, old := s.account(t, &pb.CreatePlayerRequest{Name: "guest-k3xq7a"}), "guest-k3xq7a"
	create := &pb.CreateChallengeRequest{Kind: race, Variant: "classic", Limit: durationpb.New(time.Hour), RequestId: newID()}
	raceID := s.challenge(t, guest, create).GetId()
	s.addBot(t, guest, &pb.JoinChallengeRequest{ChallengeId: raceID, Bot: "random"})
	createGame := &pb.CreateGameRequest{Variant: "twos", RequestId: newID()}
	before := s.create(t, guest, createGame)
	s.score(t, guest, before)
	for _, protocol := range protocols {
		name, err := s.over(t, protocol).rename(guest, "Zoe")
		require.NoError(t, err)
		assert.Equal(t, "Zoe", name)
		s.over(t, protocol).refuses(t, guest.ctx, &pb.RenameRequest{Name: "Eve"}, pb.ReasonRenamedRecently)
	}
	for _, request := range []*pb.GetPlayerRequest{{PlayerId: "me"}, {PlayerId: guest.GetId()}, {Name: "zoe"}, {Name: old}} {
		got, err := s.GetPlayer(guest.ctx, request)
		require.NoError(t, err)
		assert.Equal(t, guest.GetId(), got.GetPlayer().GetId())
		assert.Equal(t, "Zoe", got.GetPlayer().GetName())
	}
	assert.Equal(t, before.GetId(), s.create(t, guest, createGame).GetId())
	assert.Equal(t, old, s.get(t, before.GetId()).GetSeats()[0].GetPlayer().GetName())
	assert.Equal(t, "Zoe", s.game(t, guest, "twos").GetSeats()[0].GetPlayer().GetName())
	own, err := s.rank(guest, "twos", pb.Window_WINDOW_UNSPECIFIED)
	require.NoError(t, err)
	assert.Equal(t, "Zoe", own.GetPlayer().GetName())
	for _, name := range []string{"zoe", old} {
		listed := s.list(t, guest, &pb.ListGamesRequest{PlayerName: name, Status: finished})
		require.Len(t, listed, 1, name)
		assert.Equal(t, before.GetId(), listed[0].GetId())
	}
	got := s.readChallenge(t, player{ctx: s.anyone}, raceID).GetChallenge()
	all, err := s.ListChallenges(s.anyone, &pb.ListChallengesRequest{Kind: race})
	require.NoError(t, err)
	live, err := s.watchRace(t, raceID, "").Recv()
	require.NoError(t, err)
	s.leaveRace(t, guest, raceID, "")
	joined := s.enterRace(t, guest, raceID, false)
	left := s.leaveRace(t, guest, raceID, newID())
	again, found := s.challenge(t, guest, create), s.raceNow(t, guest)
	started := s.startRace(t, guest, raceID)
	names := []string{got.GetCreator().GetName()}
	for _, c := range append(all.GetChallenges(), got, live.GetChallenge(), joined, left, again, found, started) {
		for _, e := range c.GetEntrants() {
			names = append(names, e.GetPlayer().GetName())
		}
	}
	for _, line := range append(s.standings(t, raceID), live.GetStandings()...) {
		names = append(names, line.GetPlayer().GetName())
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" }) // a bot
	assert.Equal(t, slices.Repeat([]string{"Zoe"}, 11), names)
}

// Ensure that one of two accounts that want a name on two servers at once gets it, that each keeps
// its own, and that the other server shows the new name at least to those who ask for it.
func TestRename_Concurrently(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	for range 5 {
		servers, players := []*testServer{a, b}, []player{a.player(t), a.player(t)}
		wanted, got := "N"+newID()[:9], make([]error, 2)
		var group sync.WaitGroup
		for n := range players {
			group.Go(func() { _, got[n] = servers[n].rename(players[n], wanted) })
		}
		group.Wait()
		won := 0
		if got[0] != nil {
			won = 1
		}
		require.NoError(t, got[won])
		wantReason(t, got[1-won], pb.ReasonNameTaken)
		for _, s := range servers {
			found, err := s.GetPlayer(s.anyone, &pb.GetPlayerRequest{Name: wanted})
			require.NoError(t, err)
			assert.Equal(t, players[won].GetId(), found.GetPlayer().GetId())
			found, err = s.GetPlayer(s.anyone, &pb.GetPlayerRequest{Name: players[1-won].GetName()})
			require.NoError(t, err)
			assert.Equal(t, players[1-won].GetId(), found.GetPlayer().GetId())
		}
	}
}
