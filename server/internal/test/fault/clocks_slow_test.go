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

// Ensure that a clock that ran during an outage gets a full turn when it has run out, once.
func TestClocks_CreditedAfterOutage(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	env := newEnv(t, redis.Addr())
	s := env.serve()
	other := env.serve()
	env.awaitAckedHeartbeats(t, 2)
	const outage = 5 * time.Second
	players := []*caller{env.player(s), env.player(s), env.player(s)}
	game := players[0].table(t, &pb.CreateGameRequest{
		Seats: []*pb.SeatRequest{callerSeat, openSeat, openSeat}, TurnLimit: durationpb.New(10 * time.Second),
	})
	for _, each := range players[1:] {
		var err error
		game, err = each.join(t.Context(), game.GetId())
		require.NoError(t, err)
	}
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
	for _, each := range players[:2] {
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
