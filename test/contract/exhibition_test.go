package contract

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// showing enables exhibitions, with bots that move fast.
func showing(c *server.Config) { c.Exhibition, c.BotPace = true, 100*time.Millisecond }

// listed returns the games with the given status, of any variant and player.
func (s *testServer) listed(t testing.TB, status pb.GameStatus) []*pb.Game {
	t.Helper()
	return s.list(t, player{}, &pb.ListGamesRequest{Status: status})
}

// exhibition waits until the server lists a live game, which must be the only one and an
// exhibition.
func (s *testServer) exhibition(t testing.TB) *pb.Game {
	t.Helper()
	var live []*pb.Game
	waittest.Until(t, "an exhibition", func() bool {
		live = s.listed(t, active)
		return len(live) > 0
	})
	require.Len(t, live, 1)
	g := live[0]
	require.True(t, g.GetExhibition())
	require.False(t, g.GetRanked())
	require.False(t, g.GetPrivate())
	for _, seat := range g.GetSeats() {
		require.NotEmpty(t, seat.GetBot())
	}
	return g
}

// Ensure that the first client that lists live games on an empty store finds one that is being played,
// that it continues while it is watched, also beside a race that waits, a private race and a game without
// a move, until a player's game has a move, and that none begins during that game.
func TestExhibition(t *testing.T) {
	t.Parallel()
	s := serve(t, showing)
	for _, status := range []pb.GameStatus{anyStage, waiting, finished} {
		require.Empty(t, s.listed(t, status))
	}
	w := s.watch(t, s.anyone, &pb.WatchRequest{GameId: s.exhibition(t).GetId()})
	w.game(t)
	require.NotNil(t, w.event(t).GetMoved())
	p := s.player(t)
	g := s.game(t, p, "classic")
	s.raceNow(t, s.player(t))
	for range 5 {
		require.NotNil(t, w.event(t).GetMoved())
	}
	s.moves(t, p, g, 1)
	for w.event(t).GetAbandoned() == nil {
		continue
	}
	w.end(t)
	for range 3 {
		s.moves(t, p, s.get(t, g.GetId()), 1)
		waittest.Until(t, "only the player's game is live", func() bool {
			live := s.listed(t, active)
			return len(live) == 1 && live[0].GetId() == g.GetId() && !live[0].GetExhibition()
		})
	}
	require.Len(t, s.listed(t, finished), 1)
}
