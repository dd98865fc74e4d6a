package fault

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// table says who sits down to a game of Tribolo.
type table struct {
	seats   []*pb.SeatRequest
	joiners int
	ranked  bool
}

var tables = map[string]table{
	"people":               {[]*pb.SeatRequest{me, anyone, anyone}, 2, false},
	"people who wait":      {[]*pb.SeatRequest{anyone, anyone, anyone}, 3, false},
	"one and two bots":     {nil, 0, true},
	"two and a bot":        {[]*pb.SeatRequest{minimax, anyone, me}, 1, false},
	"one in every seat":    {[]*pb.SeatRequest{me, me, me}, 0, false},
	"one, and chance":      {[]*pb.SeatRequest{me, chance, greedy}, 0, false},
	"bots":                 {[]*pb.SeatRequest{greedy, minimax, chance}, 0, false},
	"bots and a latecomer": {[]*pb.SeatRequest{greedy, anyone, greedy}, 1, true},
}

// Ensure whole games of Tribolo, by people, by bots and mixed, on two servers,
// are shown to everybody event for event, and are what their seeds make of them.
func TestTables(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		first, second := w.serve(w.addr), w.serve(w.addr)
		for name, table := range tables {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				playTable(t, w, table, first, second)
			})
		}
	})
}

func playTable(t *testing.T, w *world, table table, first, second *testServer) {
	host := w.player(first)
	game := host.table(t, &pb.CreateGameRequest{Seats: table.seats})
	followers := []*sitter{
		sit(t, &sitter{gameID: game.GetId(), clients: []*caller{host, host.on(second)}}),
		sit(t, &sitter{gameID: game.GetId(), clients: []*caller{w.anybody(first)}}),
		sit(t, &sitter{gameID: game.GetId(), clients: []*caller{w.anybody(second)}}),
	}
	live := []*watcher{
		w.anybody(first).watch(t, game.GetId(), watching{}),
		w.anybody(second).watch(t, game.GetId(), watching{cut: 11}),
	}
	for n := range table.joiners {
		guest := w.player([]*testServer{second, first}[n%2])
		joined, err := guest.join(t.Context(), game.GetId())
		require.NoError(t, err)
		assert.Equal(t, n == table.joiners-1, joined.GetStatus() == pb.GameStatus_GAME_STATUS_ACTIVE)
		followers = append(followers, sit(t, &sitter{gameID: game.GetId(), clients: []*caller{guest}}))
	}
	var last *pb.Event
	for _, follower := range followers {
		events := follower.ends(t)
		last = events[len(events)-1]
	}
	for _, each := range live {
		require.NoError(t, each.ends(t))
		assert.Equal(t, last.GetVersion(), each.version())
		if !w.rough {
			assert.Zero(t, each.covered())
		}
	}
	assert.Equal(t, pb.Result_REASON_NO_MOVES, last.GetResult().GetReason())
	assert.Equal(t, table.ranked, last.GetRanked())
	assert.NotEmpty(t, last.GetResult().GetWinners())
	assert.EqualValues(t, 1+table.joiners+int(last.GetPosition().GetMoveCount()), last.GetVersion(), "nothing but moves")
}
