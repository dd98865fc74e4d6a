//go:build slow

package fault

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// waitingTable creates a game with a clock between two human players and a bot in the third
// seat. It is a human's turn, and nothing makes moves for the human players.
func waitingTable(t *testing.T, env *env, s *testServer, limit time.Duration) (*pb.Game, []*caller) {
	t.Helper()
	players := []*caller{env.player(s), env.player(s)}
	for {
		game := players[0].table(t, &pb.CreateGameRequest{
			Seats: []*pb.SeatRequest{callerSeat, openSeat, greedyBot}, TurnLimit: durationpb.New(limit),
		})
		game, err := players[1].join(t.Context(), game.GetId())
		require.NoError(t, err)
		if game.GetPosition().GetTurn() < 2 {
			return game, players
		}
		for _, each := range players { // The bot moves first: try another game.
			_, err := answered(t.Context(), each, each.games.Resign, &pb.ResignRequest{GameId: game.GetId()})
			if refusalOf(err).reason != pb.ReasonGameOver { // On a busy machine, the clocks may run out first.
				require.NoError(t, err)
			}
		}
	}
}

// Ensure that a clock that ran during an outage gets a full turn when it has run out, once.
func TestClocks_CreditedAfterOutage(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	env := newEnv(t, redis.Addr())
	s := env.serve()
	other := env.serve()
	env.awaitAckedHeartbeats(t, 2)
	const limit, outage = 10 * time.Second, 5 * time.Second
	game, players := waitingTable(t, env, s, limit)
	watcher := participate(t, &participant{}, game.GetId(), env.anonymous(other))
	redis.Pause()
	t.Cleanup(redis.Resume)
	<-time.After(outage)
	redis.Resume()
	e := watcher.awaitEvent(t, "the credit", func(e *pb.Event) bool { return e.GetClockExtended() != nil })
	by := e.GetClockExtended().GetBy().AsDuration()
	assert.GreaterOrEqual(t, by, outage-2*time.Second)
	began := game.GetPosition().GetTurnDeadline().AsTime()
	assert.Equal(t, began.Add(by), e.GetPosition().GetTurnDeadline().AsTime())
	assert.False(t, e.GetTime().AsTime().Before(began))
	for _, each := range players {
		_, err := answered(t.Context(), each, each.games.Resign, &pb.ResignRequest{GameId: game.GetId()})
		require.NoError(t, err)
	}
	events := watcher.awaitEvents(t)
	extensions := 0
	for _, e := range events {
		if e.GetClockExtended() != nil {
			extensions++
		}
	}
	assert.Equal(t, 1, extensions, "number of credits")
}
