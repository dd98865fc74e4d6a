//go:build slow

package fault

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/challenge"
)

// Ensure that all servers list a waiting game and a waiting race while their players watch them, and none
// does soon after the server with the players' streams has died.
func TestWaiting_Death(t *testing.T) {
	t.Parallel()
	env := newUncheckedEnv(t)
	a, b := env.serveProcess(), env.serveProcess()
	host := env.player(a)
	ctx := host.authorized(t.Context())
	g, err := host.create(t.Context(), &pb.CreateGameRequest{Variant: "tribolo", Seats: []*pb.SeatRequest{callerSeat, openSeat, openSeat}})
	require.NoError(t, err)
	race := host.newRace(t)
	_, err = host.games.Watch(ctx, &pb.WatchRequest{GameId: g.GetId()})
	require.NoError(t, err)
	_, err = host.challenges.WatchChallenge(ctx, &pb.WatchChallengeRequest{ChallengeId: race.GetId()})
	require.NoError(t, err)

	visitor := env.anonymous(b)
	listed := func() (games, races int) {
		all, err := visitor.games.ListGames(t.Context(), &pb.ListGamesRequest{Status: pb.GameStatus_GAME_STATUS_WAITING})
		require.NoError(t, err)
		challenges, err := visitor.challenges.ListChallenges(t.Context(), &pb.ListChallengesRequest{})
		require.NoError(t, err)
		return len(all.GetGames()), len(challenges.GetChallenges())
	}
	for began := time.Now(); time.Since(began) < challenge.AbsentAfter+10*time.Second; <-time.After(time.Second) {
		games, races := listed()
		require.Equal(t, []int{1, 1}, []int{games, races})
	}
	a.process.Kill()
	died := time.Now()
	waittest.Until(t, "neither is listed", func() bool {
		games, races := listed()
		return games+races == 0
	})
	took := time.Since(died).Round(time.Second)
	t.Logf("figure: a waiting game or race is listed after its server's death for | %v | 45 s", took)
}
