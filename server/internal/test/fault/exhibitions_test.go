package fault

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	"github.com/gridstand/gridstand/internal/testkit/process"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
	"github.com/gridstand/gridstand/server/limits"
)

// serveWith is serve with another configuration.
func (w *world) serveWith(change func(*server.Config)) *testServer {
	w.t.Helper()
	config := quick(w.addr)
	config.Logger = slog.New(alarm{slog.NewTextHandler(w.t.Output(), nil), w.t})
	change(&config)
	running, stop := servertest.Start(w.t, config)
	return &testServer{addr: running.Addr().String(), stop: stop}
}

// pauses waits until a game stands still for a while.
func (w *world) pauses(t *testing.T, gameID string) {
	t.Helper()
	const still = 20 * botPace
	last, since := int64(0), time.Now()
	for deadline := time.Now().Add(patience); time.Since(since) < still; <-time.After(botPace) {
		require.True(t, time.Now().Before(deadline), "the game goes on")
		if n := w.length(t, gameID); n != last {
			last, since = n, time.Now()
		}
	}
}

// endless is a game between bots alone that outlasts the test.
func endless() *pb.CreateGameRequest {
	return &pb.CreateGameRequest{Variant: "6x6", Seats: []*pb.SeatRequest{greedy}}
}

// Ensure a game between bots alone goes on while somebody watches it, on whatever
// server, and is paused when nobody does, that it goes on with the next look, on
// whatever server, and is not abandoned meanwhile.
func TestExhibition_pauses_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		change := func(c *server.Config) { c.PauseAfter, c.AbandonAfter = time.Second, time.Second }
		servers := []*testServer{w.serveWith(change), w.serveWith(change), w.serveWith(change)}
		host := w.player(servers[0])
		game, err := host.create(t.Context(), endless())
		require.NoError(t, err)
		id := game.GetId()
		w.pauses(t, id)

		// With whatever server looks, and on after the pause is over many times.
		for _, s := range servers {
			ctx, cancel := context.WithCancel(t.Context())
			at := w.length(t, id)
			looked := time.Now()
			watch, err := w.anybody(s).games.Watch(ctx, &pb.WatchRequest{GameId: id, EveryEvent: true})
			require.NoError(t, err)
			seen := 0
			for events := 0; time.Since(looked) < 3*time.Second || events < 3; {
				update, err := watch.Recv()
				require.NoError(t, err)
				if update.GetEvent() != nil {
					if events++; events == 1 {
						t.Logf("goes on after %v", time.Since(looked))
					}
					seen++
				}
			}
			cancel()
			assert.Greater(t, w.length(t, id), at)
			w.pauses(t, id)
		}
		for _, s := range servers {
			at := w.length(t, id)
			// Again and again: on a slow machine the pause after one look may be over
			// before the bot comes to move.
			looker := w.anybody(s)
			require.Eventually(t, func() bool {
				_, err := looker.get(t.Context(), id)
				return assert.NoError(t, err) && w.length(t, id) > at
			}, patience, 300*time.Millisecond)
			w.pauses(t, id)
		}
		now, err := host.get(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, pb.GameStatus_GAME_STATUS_ACTIVE, now.GetStatus(), "paused is not abandoned")
		w.pauses(t, id) // The lists are checked, which no server may be about to write.
	})
}

// Ensure a game between bots alone that nobody looks at for as long as finished
// games are kept ends.
func TestExhibition_ends(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		s := w.serveWith(func(c *server.Config) {
			c.PauseAfter, c.AbandonAfter, c.KeepFinished = time.Second, 100*time.Millisecond, 3*time.Second
		})
		host := w.player(s)
		game, err := host.create(t.Context(), endless())
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			mine, err := host.games.ListGames(host.authorized(t.Context()), &pb.ListGamesRequest{PlayerId: "me"})
			require.NoError(t, err)
			for _, g := range mine.GetGames() {
				if g.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED {
					return assert.Equal(t, pb.Result_REASON_ABANDONED, g.GetResult().GetReason())
				}
			}
			return len(mine.GetGames()) == 0 // It was not kept for long.
		}, patience, 50*time.Millisecond, game.GetId())
	})
}

// Ensure three servers together let no more games between bots run than may, also
// when one of them is killed and its games go on elsewhere, and that the games
// make room by themselves.
func TestExhibition_bounds_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	const perPlayer, perAddress, perStore = 3, 7, 7
	redis := redistest.StartRedis(t)
	w := newUnchecked(t, redis.Addr(), redistest.NewClient(t, redis.Addr()))
	flags := []string{
		fmt.Sprint("--max-bot-games-per-player=", perPlayer), fmt.Sprint("--max-bot-games-per-address=", perAddress),
		fmt.Sprint("--max-bot-games-per-store=", perStore), "--pause-after=2s",
	}
	servers := []*testServer{w.serveProcess(w.addr, flags...), w.serveProcess(w.addr, flags...), w.serveProcess(w.addr, flags...)}
	var hosts []*caller
	for range 5 {
		hosts = append(hosts, w.player(servers[0]))
	}
	// create has everybody create games on every server, and returns those that
	// came to be.
	create := func(servers ...*testServer) []string {
		var group errgroup.Group
		made := make(chan string, 100)
		for _, host := range hosts {
			for _, s := range servers {
				host := host.on(s)
				group.Go(func() error {
					for range perPlayer {
						game, err := host.create(t.Context(), endless())
						r := refusalOf(err)
						switch {
						case err == nil:
							made <- game.GetId()
						case r.code != codes.ResourceExhausted || r.retry <= 0:
							return err
						}
					}
					return nil
				})
			}
		}
		require.NoError(t, group.Wait())
		close(made)
		var ids []string
		for id := range made {
			ids = append(ids, id)
		}
		return ids
	}
	first := create(servers...)
	assert.Len(t, first, perStore)
	servers[0].stop()
	survivors := servers[1:]
	assert.LessOrEqual(t, w.running(t), int64(perStore))
	for _, id := range first {
		w.pauses(t, id)
	}
	require.Eventually(t, func() bool { return w.running(t) == 0 }, patience, botPace, "a server that was killed holds no place")
	second := create(survivors...)
	assert.Len(t, second, perStore)

	// Who looks at all of them gets no more to run than may.
	for deadline := time.Now().Add(4 * time.Second); time.Now().Before(deadline); {
		for _, id := range slices.Concat(first, second) {
			_, err := hosts[0].on(survivors[0]).get(t.Context(), id)
			require.NoError(t, err)
			assert.LessOrEqual(t, w.running(t), int64(perStore))
		}
	}
}

// running is how many games between bots run, as the servers share it.
func (w *world) running(t *testing.T) int64 {
	t.Helper()
	now, err := w.store.Time(t.Context()).Result()
	require.NoError(t, err)
	n, err := w.store.ZCount(t.Context(), "exhibitions", fmt.Sprint("(", now.UnixMilli()), "+inf").Result()
	require.NoError(t, err)
	return n
}

// hosts is how many throw-away accounts create games between bots.
const hosts = 25

// Ensure accounts made for nothing else than to have bots play cost the others
// little: the bots of as many games move as may, whoever asks for more is
// refused, and when they are gone their games stand still.
func TestExhibition_flood_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t)
	w := newUnchecked(t, redis.Addr(), redistest.NewClient(t, redis.Addr()))
	server := w.serveProgram(exec.Command(process.Build(t, "cmd/gridstand-server")), w.addr,
		"--max-moves-per-second=0", "--metrics", "127.0.0.1:0", "--bot-pace=700ms")
	g := server.gauges(t)
	s := &steady{player: w.player(server), rng: seeded(t)}
	s.begin(t)
	s.moves(t) // to warm up
	before := g.read(t, "process_resident_memory_bytes")
	measure := func(what string) {
		began, worked := time.Now(), g.exactly(t, "process_cpu_seconds_total")
		took := s.moves(t)
		for time.Since(began) < 10*time.Second {
			more := s.moves(t)
			took = append(took, more...)
		}
		slices.Sort(took)
		cores := (g.exactly(t, "process_cpu_seconds_total") - worked) / time.Since(began).Seconds()
		t.Logf("%-24s p50 %.2f ms, p99 %.1f ms of %d moves; server %.2f cores, %d MB; %d games between bots run",
			what, at(took, 50).Seconds()*1000, at(took, 99).Seconds()*1000, len(took), cores,
			g.read(t, "process_resident_memory_bytes")>>20, w.running(t))
		if !process.Race {
			assert.Less(t, at(took, 99), time.Second, what)
			assert.Less(t, g.read(t, "process_resident_memory_bytes"), before+roomFor, what)
		}
	}
	measure("undisturbed")

	var group errgroup.Group
	ctx, cancel := context.WithCancel(t.Context())
	var made, refused atomic.Int64
	for n := range hosts {
		host := w.player(server)
		bots := []*pb.CreateGameRequest{
			endless(),
			{Variant: "6x6", Seats: []*pb.SeatRequest{{Occupant: &pb.SeatRequest_Bot{Bot: "expectimax"}}}},
			{Variant: "tribolo", Seats: []*pb.SeatRequest{minimax, minimax, minimax}},
		}
		group.Go(func() error {
			for ctx.Err() == nil {
				_, err := host.create(ctx, bots[n%len(bots)])
				r := refusalOf(err)
				switch {
				case ctx.Err() != nil:
				case err == nil:
					made.Add(1)
				case r.code != codes.ResourceExhausted || r.retry <= 0:
					return err
				default:
					refused.Add(1)
				}
			}
			return nil
		})
	}
	measure("accounts create games")
	assert.LessOrEqual(t, w.running(t), int64(limits.Default().BotGamesPerAddress))
	cancel()
	if err := group.Wait(); !errors.Is(err, context.Canceled) {
		require.NoError(t, err)
	}
	measure("after that")
	t.Logf("%d games made, %d refused", made.Load(), refused.Load())
	require.Eventually(t, func() bool { return w.running(t) == 0 }, 2*patience, time.Second)
	measure("a minute later")
}
