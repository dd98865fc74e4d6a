package contract

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	"github.com/gridstand/gridstand/internal/testkit/process"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// showing enables exhibitions, with bots that move fast.
func showing(c *server.Config) { c.Exhibition, c.BotPace = true, 20*time.Millisecond }

// listed returns the games with the given status, of any variant and player.
func (s *testServer) listed(t testing.TB, status pb.GameStatus) []*pb.Game {
	t.Helper()
	listed, err := s.ListGames(s.anyone, &pb.ListGamesRequest{Status: status})
	require.NoError(t, err)
	return listed.GetGames()
}

// exhibition waits until the server lists a live game, which must be the only one and an
// exhibition.
func (s *testServer) exhibition(t testing.TB) *pb.Game {
	t.Helper()
	var live []*pb.Game
	eventually(t, "an exhibition", func() bool {
		live = s.listed(t, active)
		return len(live) > 0
	})
	require.Len(t, live, 1)
	requireExhibition(t, live[0])
	return live[0]
}

func requireExhibition(t testing.TB, g *pb.Game) {
	t.Helper()
	require.True(t, g.GetExhibition())
	require.False(t, g.GetRanked())
	require.False(t, g.GetPrivate())
	for _, seat := range g.GetSeats() {
		require.NotEmpty(t, seat.GetBot())
	}
}

// Ensure that the first client that lists live games on an empty store finds one that is being
// played, the same one on every server.
func TestExhibition_Begins(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, a, b *testServer) {
		for _, status := range []pb.GameStatus{0, waiting, finished} {
			require.Empty(t, a.listed(t, status))
		}
		require.Empty(t, a.listed(t, active))
		g := a.exhibition(t)
		eventually(t, "the exhibition moves", func() bool {
			now := b.exhibition(t)
			assert.Equal(t, g.GetId(), now.GetId())
			return now.GetVersion() > g.GetVersion()
		})
		requireExhibition(t, a.get(t, g.GetId()))
		b.watch(t, b.anyone, &pb.WatchRequest{GameId: g.GetId()}).game(t)
	}, showing)
}

// Ensure that the first client of an empty server sees a move within 3 s if bots have their default
// pace. On a busy machine, one of several servers must be so fast, apart from the time that writes
// take.
func TestExhibition_BeginsSoon(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	for engine, newStore := range map[string]func(testing.TB) string{
		"memory": func(testing.TB) string { return server.Memory },
		"redis":  func(t testing.TB) string { return redistest.StartRedis(t).URL() },
	} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			fast := false
			for n := 0; n < 5 && !fast; n++ {
				s := start(t, newStore(t), func(c *server.Config) { c.Exhibition = true })
				began := time.Now()
				g := s.exhibition(t)
				eventually(t, "the exhibition moves", func() bool { return s.exhibition(t).GetVersion() > g.GetVersion() })
				took := time.Since(began)
				began = time.Now()
				p := s.player(t)
				s.moves(t, p, s.game(t, p, "classic"), 1)
				writes := time.Since(began)
				t.Logf("moves after %v; an account, a game and a move take %v", took, writes)
				fast = took < 3*time.Second+2*writes || process.Race
				s.stop()
			}
			assert.True(t, fast)
		})
	}
}

// Ensure that an exhibition ends if no client watches it, and that an exhibition of another variant
// begins when a client lists live games again.
func TestExhibition_EndsUnseen(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	eachPair(t, func(t *testing.T, a, b *testServer) {
		var over []*pb.Game // the latest first
		for n := 0; len(over) < 3; n++ {
			require.Less(t, n, 3)
			// On a stalled machine, an exhibition may have ended before this one began.
			g := []*testServer{a, b}[n%2].exhibition(t)
			require.NotContains(t, ids(over), g.GetId())
			eventually(t, "the exhibition ends", func() bool {
				over = a.listed(t, finished)
				return slices.Contains(ids(over), g.GetId())
			})
			assert.Equal(t, g.GetId(), over[0].GetId())
		}
		slices.Reverse(over)
		for n, g := range over {
			requireExhibition(t, g)
			assert.Equal(t, []string{"classic", "tribolo"}[n%2], g.GetVariant())
			assert.Equal(t, pb.Result_REASON_ABANDONED, g.GetResult().GetReason())
		}
	}, showing, func(c *server.Config) { c.PauseAfter, c.BotPace = time.Second, 100*time.Millisecond })
}

// Ensure that a watched exhibition is played to its end, and that another one follows.
func TestExhibition_Follows_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	eachPair(t, func(t *testing.T, a, b *testServer) {
		a.exhibition(t)
		eventually(t, "the exhibition ends unseen", func() bool { return len(a.listed(t, finished)) == 1 })
		g := b.exhibition(t)
		require.Equal(t, "tribolo", g.GetVariant())
		w := b.watch(t, b.anyone, &pb.WatchRequest{GameId: g.GetId()})
		w.game(t)
		var last *pb.Event
		for last.GetResult() == nil {
			last = w.event(t)
		}
		assert.Equal(t, pb.Result_REASON_NO_MOVES, last.GetResult().GetReason())
		ended := time.Now()
		assert.Equal(t, "classic", a.exhibition(t).GetVariant())
		t.Logf("another one begins %v after the end", time.Since(ended))
		// Long enough that a busy machine does not pause a game that is watched.
	}, showing, func(c *server.Config) { c.PauseAfter = 10 * time.Second })
}

// Ensure that a watched exhibition continues until a player's game is live, and that no
// exhibition begins during that game.
func TestExhibition_EndsForPlayers(t *testing.T) {
	t.Parallel()
	skipShort(t)
	eachPair(t, func(t *testing.T, a, b *testServer) {
		w := a.watch(t, a.anyone, &pb.WatchRequest{GameId: a.exhibition(t).GetId()})
		w.game(t)
		p := b.player(t)
		g := b.game(t, p, "classic")
		for over := false; !over; {
			event := w.event(t)
			over = event.GetAbandoned() != nil
		}
		w.end(t)
		for range 10 {
			b.moves(t, p, b.get(t, g.GetId()), 1)
			for _, s := range []*testServer{a, b} {
				eventually(t, "only the player's game is live", func() bool {
					live := s.listed(t, active)
					return len(live) == 1 && live[0].GetId() == g.GetId() && !live[0].GetExhibition()
				})
			}
		}
		require.Len(t, a.listed(t, finished), 1)
	}, showing)
}

// Ensure that a player-created game between bots is marked as an exhibition.
func TestExhibition_OfPlayers(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		g := s.create(t, p, &pb.CreateGameRequest{Variant: "tribolo", Seats: []*pb.SeatRequest{
			{Occupant: &pb.SeatRequest_Bot{Bot: "random"}}, {Occupant: &pb.SeatRequest_Bot{Bot: "random"}}, {Occupant: &pb.SeatRequest_Bot{Bot: "random"}},
		}})
		requireExhibition(t, g)
		requireExhibition(t, s.get(t, g.GetId()))
		assert.False(t, s.game(t, p, "tribolo").GetExhibition())
	})
}
