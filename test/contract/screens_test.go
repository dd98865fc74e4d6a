package contract

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// eachPair runs test once with one server whose store is in memory, and once with two servers that
// share a Redis server.
func eachPair(t *testing.T, test func(t *testing.T, a, b *testServer), changes ...change) {
	t.Helper()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		s := start(t, server.Memory, changes...)
		test(t, s, s)
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		url := redistest.StartRedis(t).URL()
		test(t, start(t, url, changes...), start(t, url, changes...))
	})
}

// Ensure that a preview shows the same messages as a normal stream, and that no server counts it as
// a spectator.
func TestWatch_Preview(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	eachPair(t, func(t *testing.T, a, b *testServer) {
		p := a.player(t)
		g := a.game(t, p, "classic")
		request := &pb.WatchRequest{GameId: g.GetId(), Preview: true}
		watchers := []*watcher{
			a.watch(t, a.anyone, request), b.watch(t, b.anyone, request), b.watch(t, b.with(a.player(t).token), request),
			b.watch(t, b.anyone, &pb.WatchRequest{GameId: g.GetId()}), // not a preview
			a.watch(t, p.ctx, request),                                // a player of the game
		}
		for _, w := range watchers {
			assert.True(t, proto.Equal(unwatched(g), unwatched(w.game(t))))
		}
		for _, w := range watchers {
			w.audience(t, 1)
		}
		for _, s := range []*testServer{a, b} {
			eventually(t, "there is one spectator", func() bool { return s.get(t, g.GetId()).GetWatchers() == 1 })
		}
		watchers[3].leave()
		for _, s := range []*testServer{a, b} {
			eventually(t, "only previews are left", func() bool { return s.get(t, g.GetId()).GetWatchers() == 0 })
		}
		events := append(a.moves(t, p, g, 5), a.resign(t, p, g.GetId()))
		for _, w := range append(watchers[:3], watchers[4]) {
			for _, event := range events {
				require.True(t, proto.Equal(event, w.event(t)))
			}
			w.end(t)
			for _, n := range w.audiences {
				assert.LessOrEqual(t, n, int32(1))
			}
		}
	})
}

// Ensure that a game between bots continues while it is previewed through another server.
func TestWatch_PreviewOfBots(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	const pauseAfter = time.Second
	eachPair(t, func(t *testing.T, a, b *testServer) {
		g := a.create(t, a.player(t), &pb.CreateGameRequest{
			Variant: "6x6", Seats: []*pb.SeatRequest{{Occupant: &pb.SeatRequest_Bot{Bot: "greedy"}}},
		})
		w := b.watch(t, b.anyone, &pb.WatchRequest{GameId: g.GetId(), Preview: true})
		w.game(t)
		// Without a spectator the game would pause in the first third of this time.
		began, last := time.Now(), time.Time{}
		for events := 0; events <= 3 || last.Sub(began) < 3*pauseAfter; events++ {
			last = w.event(t).GetTime().AsTime()
		}
		assert.Zero(t, b.get(t, g.GetId()).GetWatchers())
	}, func(c *server.Config) { c.PauseAfter, c.BotPace = pauseAfter, 50*time.Millisecond })
}

// Ensure that every server counts exactly the public games that are being played.
func TestListGames_MovingGames(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	eachPair(t, func(t *testing.T, a, b *testServer) {
		p := a.player(t)
		// moving requires that every server counts exactly the given games. It keeps moving in them,
		// because a game without moves soon does not count.
		moving := func(what string, games ...*pb.Game) {
			t.Helper()
			moved := time.Now()
			for _, s := range []*testServer{a, b} {
				for _, request := range []*pb.ListGamesRequest{{}, {Variant: "chess"}, {PlayerName: "Unknown"}, {Status: finished, PageSize: 1}} {
					eventually(t, what, func() bool {
						if time.Since(moved) > 5*time.Second {
							for _, g := range games {
								a.moves(t, p, a.get(t, g.GetId()), 1)
							}
							moved = time.Now()
						}
						listed, err := s.ListGames(s.anyone, request)
						require.NoError(t, err)
						return int(listed.GetMovingGames()) == len(games)
					})
				}
			}
		}
		moving("no games")
		first := a.game(t, p, "classic")
		second := a.game(t, p, "twos")
		a.create(t, p, &pb.CreateGameRequest{Variant: "classic", Private: true})
		a.create(t, p, &pb.CreateGameRequest{Variant: "tribolo", Seats: []*pb.SeatRequest{
			{Occupant: &pb.SeatRequest_Caller{Caller: &pb.Caller{}}},
			{Occupant: &pb.SeatRequest_Open{Open: &pb.Open{}}},
			{Occupant: &pb.SeatRequest_Bot{Bot: "greedy"}},
		}})
		moving("two public games are being played", first, second)
		a.resign(t, p, first.GetId())
		moving("one is over", second)
		a.resign(t, p, second.GetId())
		moving("both are over")
	})
}

// Ensure that the list of a player's games starts with the most recently moved game, so that
// the first active game is the one to watch.
func TestListGames_CurrentGame(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	eachPair(t, func(t *testing.T, a, b *testServer) {
		p := a.player(t)
		request := &pb.ListGamesRequest{PlayerName: p.GetName(), Status: active, PageSize: 1}
		current := func(s *testServer, who context.Context) string {
			listed, err := s.ListGames(who, request)
			require.NoError(t, err)
			if len(listed.GetGames()) == 0 {
				return ""
			}
			return listed.GetGames()[0].GetId()
		}
		shown := func(id string) {
			t.Helper()
			for _, s := range []*testServer{a, b} {
				eventually(t, "the most recently moved game is first", func() bool { return current(s, s.anyone) == id })
			}
		}
		assert.Empty(t, current(b, b.anyone))
		first := a.game(t, p, "classic")
		shown(first.GetId())
		second := a.game(t, p, "classic")
		shown(second.GetId())
		a.moves(t, p, first, 1)
		shown(first.GetId())
		private := a.create(t, p, &pb.CreateGameRequest{Variant: "classic", Private: true})
		for _, s := range []*testServer{a, b} {
			assert.Equal(t, first.GetId(), current(s, s.anyone), "a private game is hidden from others")
			assert.Equal(t, private.GetId(), current(s, s.with(p.token)))
		}
		a.resign(t, p, first.GetId())
		shown(second.GetId())
		a.resign(t, p, second.GetId())
		shown("")
	})
}
