package challenges_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that two players and a bot can race on the same tiles: boards are hidden and accept no
// moves before the race opens and are visible to everyone afterward, a player who resigns keeps
// their points, and the final standings match the games.
func TestRace_Whole_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	ctx, now := t.Context(), &clock{}
	config := servertest.Config(t).Unlimited()
	config.BotPace, config.StoreNow = 0, now.now
	server, _ := servertest.Start(t, config)
	conn := servertest.Dial(t, server.Addr())
	challenges := pb.NewChallengeServiceClient(conn)
	ann, bob := playertest.New(ctx, t, conn, "Ann"), playertest.New(ctx, t, conn, "Bob")

	created, err := challenges.CreateChallenge(ann.Ctx, &pb.CreateChallengeRequest{
		Kind: pb.ChallengeKind_CHALLENGE_KIND_RACE, Variant: "classic", Limit: durationpb.New(15 * time.Second),
	})
	require.NoError(t, err)
	race := created.GetChallenge().GetId()
	_, err = challenges.JoinChallenge(ann.Ctx, &pb.JoinChallengeRequest{ChallengeId: race, Bot: "greedy"})
	require.NoError(t, err)
	_, err = challenges.JoinChallenge(bob.Ctx, &pb.JoinChallengeRequest{ChallengeId: race, Ready: true})
	require.NoError(t, err)
	now.stop() // so that the race does not open during the next calls
	started, err := challenges.JoinChallenge(ann.Ctx, &pb.JoinChallengeRequest{ChallengeId: race, Ready: true})
	require.NoError(t, err)
	roster := started.GetChallenge().GetEntrants()
	require.Len(t, roster, 3)
	assert.Equal(t, pb.ChallengeStatus_CHALLENGE_STATUS_SCHEDULED, started.GetChallenge().GetStatus(), "all are ready")

	read := func(entrant int) (*pb.Game, error) {
		got, err := ann.Games.GetGame(ctx, &pb.GetGameRequest{GameId: roster[entrant].GetGameId()})
		return got.GetGame(), err
	}
	for i := range roster {
		_, err := read(i)
		why, _ := reason(err)
		assert.Equal(t, pb.ReasonChallengeNotOpen, why)
	}
	_, err = bob.Games.Move(bob.Ctx, &pb.MoveRequest{
		GameId: roster[2].GetGameId(), Version: 1, Move: &pb.MoveRequest_Direction{Direction: pb.Direction_DIRECTION_LEFT},
	})
	why, _ := reason(err)
	assert.Equal(t, pb.ReasonGameNotStarted, why)
	now.resume()

	var first *pb.Game
	require.Eventually(t, func() bool {
		first, err = read(0)
		return err == nil
	}, 5*time.Minute, 20*time.Millisecond)
	now.stop() // so that the race does not close during the next moves
	second, err := read(2)
	require.NoError(t, err)
	assert.Equal(t, first.GetPosition().GetTwenty48().GetTiles(), second.GetPosition().GetTwenty48().GetTiles())
	for range 10 {
		ann.Move(t, first)
		bob.Move(t, second)
		assert.Equal(t, first.GetPosition().GetTwenty48().GetTiles(), second.GetPosition().GetTwenty48().GetTiles())
	}
	bob.Resign(t, second)
	now.resume()

	// The bot's game ends by the rules or when the race closes.
	bots, err := ann.Games.Watch(ctx, &pb.WatchRequest{
		GameId: roster[1].GetGameId(), AfterVersion: proto.Int32(0), EveryEvent: true,
	})
	require.NoError(t, err)
	for range 20 {
		_, err := bots.Recv()
		require.NoError(t, err)
	}
	for i := range roster {
		updates, err := ann.Games.Watch(ctx, &pb.WatchRequest{GameId: roster[i].GetGameId()})
		require.NoError(t, err)
		for err == nil {
			_, err = updates.Recv()
		}
		assert.Equal(t, codes.Unknown, status.Code(err), "%v", err) // io.EOF has no status code
	}

	got, err := challenges.GetChallenge(ctx, &pb.GetChallengeRequest{ChallengeId: race})
	require.NoError(t, err)
	assert.Equal(t, pb.ChallengeStatus_CHALLENGE_STATUS_CLOSED, got.GetChallenge().GetStatus())
	assert.Len(t, got.GetChallenge().GetSeed(), 32)
	listed, err := challenges.ListStandings(ctx, &pb.ListStandingsRequest{ChallengeId: race})
	require.NoError(t, err)
	require.Len(t, listed.GetStandings(), 3)
	for i, line := range listed.GetStandings() {
		game, err := ann.Games.GetGame(ctx, &pb.GetGameRequest{GameId: line.GetGameId()})
		require.NoError(t, err)
		assert.EqualValues(t, i+1, line.GetRank())
		assert.True(t, line.GetFinished())
		assert.Equal(t, game.GetGame().GetResult().GetScores()[0], line.GetScore())
		assert.Equal(t, got.GetChallenge().GetSeed(), game.GetGame().GetSeed())
		if i > 0 {
			assert.LessOrEqual(t, line.GetScore(), listed.GetStandings()[i-1].GetScore())
		}
	}
}
