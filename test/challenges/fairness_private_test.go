package challenges_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"

	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that lists contain nothing private: no attempts at private challenges, and no rematches
// of such attempts or of private games.
func TestPrivate_Unlisted(t *testing.T) {
	t.Parallel()
	clock := newStillClock()
	config := servertest.Config(t).Unlimited()
	config.StoreNow = clock.now
	server, _ := servertest.Start(t, config)
	conn := servertest.Dial(t, server.Addr())
	ann, bob := playertest.New(t.Context(), t, conn, "Ann"), playertest.New(t.Context(), t, conn, "Bob")
	challenges := pb.NewChallengeServiceClient(conn)
	create := func(by *playertest.Player, request *pb.CreateChallengeRequest) *pb.Challenge {
		created, err := challenges.CreateChallenge(by.Ctx, request)
		require.NoError(t, err)
		return created.GetChallenge()
	}
	var secret []*pb.Game

	game := ann.Create(t, &pb.CreateGameRequest{Variant: "classic", Private: true})
	ann.Resign(t, game)
	again := create(bob, &pb.CreateChallengeRequest{Kind: rematch, GameId: game.GetId()})
	assert.True(t, again.GetPrivate())
	secret = append(secret, game, bob.Create(t, &pb.CreateGameRequest{ChallengeId: again.GetId()}))

	private := create(ann, &pb.CreateChallengeRequest{Kind: race, Variant: "classic", Private: true, Limit: durationpb.New(time.Minute)})
	for _, p := range []*playertest.Player{ann, bob} {
		_, err := challenges.JoinChallenge(p.Ctx, &pb.JoinChallengeRequest{ChallengeId: private.GetId(), Ready: true})
		require.NoError(t, err)
	}
	clock.forward(3 * time.Second)
	secret = append(secret, ann.Create(t, &pb.CreateGameRequest{ChallengeId: private.GetId()}))
	ann.Move(t, secret[2])

	passedOn := create(ann, &pb.CreateChallengeRequest{Kind: link, Variant: "classic", Private: true})
	attempt := ann.Create(t, &pb.CreateGameRequest{ChallengeId: passedOn.GetId()})
	ann.Resign(t, attempt)
	clock.forward(7 * 24 * time.Hour)
	assert.True(t, create(bob, &pb.CreateChallengeRequest{Kind: rematch, GameId: attempt.GetId()}).GetPrivate())
	secret = append(secret, attempt)

	listed, err := challenges.ListChallenges(t.Context(), &pb.ListChallengesRequest{})
	require.NoError(t, err)
	assert.Empty(t, listed.GetChallenges())
	for _, request := range []*pb.ListGamesRequest{{}, {PlayerId: ann.ID}, {PlayerName: "Bob"}, {Status: pb.GameStatus_GAME_STATUS_ACTIVE}} {
		page, err := ann.Games.ListGames(t.Context(), request)
		require.NoError(t, err)
		for _, g := range secret {
			for _, got := range page.GetGames() {
				assert.NotEqual(t, g.GetId(), got.GetId(), "%v", request)
			}
		}
	}
}
