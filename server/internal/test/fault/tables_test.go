package fault

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// table describes the seats of a game of Tribolo.
type table struct {
	seats   []*pb.SeatRequest
	joiners int
	ranked  bool
}

var tables = map[string]table{
	"people":                        {[]*pb.SeatRequest{callerSeat, openSeat, openSeat}, 2, false},
	"people in open seats":          {[]*pb.SeatRequest{openSeat, openSeat, openSeat}, 3, false},
	"one player and two bots":       {nil, 0, true},
	"two players and a bot":         {[]*pb.SeatRequest{minimaxBot, openSeat, callerSeat}, 1, false},
	"one player in every seat":      {[]*pb.SeatRequest{callerSeat, callerSeat, callerSeat}, 0, false},
	"one player and the random bot": {[]*pb.SeatRequest{callerSeat, randomBot, greedyBot}, 0, false},
	"bots":                          {[]*pb.SeatRequest{greedyBot, minimaxBot, randomBot}, 0, false},
	"bots and a latecomer":          {[]*pb.SeatRequest{greedyBot, openSeat, greedyBot}, 1, true},
}

// Ensure that all watchers receive every event of whole games of Tribolo, whether played by
// people, bots or both, on two servers, and that the games can be recomputed from their seeds.
func TestTables_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		first, second := env.servePair()
		for name, table := range tables {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				playTable(t, env, table, first, second)
			})
		}
	})
}

func playTable(t *testing.T, env *env, table table, first, second *testServer) {
	host := env.player(first)
	game := host.table(t, &pb.CreateGameRequest{Seats: table.seats})
	followers := []*participant{
		participate(t, &participant{gameID: game.GetId(), clients: []*caller{host, host.on(second)}}),
		participate(t, &participant{gameID: game.GetId(), clients: []*caller{env.anonymous(first)}}),
		participate(t, &participant{gameID: game.GetId(), clients: []*caller{env.anonymous(second)}}),
	}
	live := []*watcher{
		env.anonymous(first).watch(t, game.GetId(), watching{}),
		env.anonymous(second).watch(t, game.GetId(), watching{cut: 11}),
	}
	for n := range table.joiners {
		guest := env.player([]*testServer{second, first}[n%2])
		joined, err := guest.join(t.Context(), game.GetId())
		require.NoError(t, err)
		assert.Equal(t, n == table.joiners-1, joined.GetStatus() == pb.GameStatus_GAME_STATUS_ACTIVE)
		followers = append(followers, participate(t, &participant{gameID: game.GetId(), clients: []*caller{guest}}))
	}
	var last *pb.Event
	for _, follower := range followers {
		events := follower.awaitEnd(t)
		last = events[len(events)-1]
	}
	for _, each := range live {
		require.NoError(t, each.awaitEnd(t))
		assert.Equal(t, last.GetVersion(), each.version())
		if !env.serversDie {
			assert.Zero(t, each.covered())
		}
	}
	assert.Equal(t, pb.Result_REASON_NO_MOVES, last.GetResult().GetReason())
	assert.Equal(t, table.ranked, last.GetRanked())
	assert.NotEmpty(t, last.GetResult().GetWinners())
	assert.EqualValues(t, 1+table.joiners+int(last.GetPosition().GetMoveCount()), last.GetVersion(), "the game has other events than joins and moves")
}
