//go:build slow

package fault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gridstand/gridstand/internal/id"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/limits"
)

// awaitPaused waits until no game between bots is running, and the given one has had no new events
// for a while.
func (env *env) awaitPaused(t *testing.T, gameID string) {
	t.Helper()
	const still = 20 * botPace
	last, since := int64(0), time.Now()
	waittest.Until(t, "the game is paused", func() bool {
		if n := env.length(t, gameID); n != last || env.running(t) > 0 {
			last, since = n, time.Now()
		}
		return time.Since(since) >= still
	})
}

// minimaxBot requests a seat for a bot that thinks for long.
var minimaxBot = &pb.SeatRequest{Occupant: &pb.SeatRequest_Bot{Bot: "minimax"}}

// endless returns a request for a game between bots that lasts longer than the test.
func endless() *pb.CreateGameRequest {
	return &pb.CreateGameRequest{Variant: "6x6", Seats: []*pb.SeatRequest{greedyBot}}
}

// Ensure that a game between bots runs while it is watched or previewed on any server, is paused
// without watchers, resumes when a client opens it on any server, and is not abandoned.
func TestExhibition_Pauses(t *testing.T) {
	t.Parallel()
	onRedis(t, func(t *testing.T, env *env) {
		change := func(c *server.Config) {
			c.PauseAfter, c.AbandonAfter, c.BotPace = time.Second, time.Second, 50*time.Millisecond
		}
		servers := []*testServer{env.serveWith(change), env.serveWith(change), env.serveWith(change)}
		host := env.player(servers[0])
		game, err := host.create(t.Context(), endless())
		require.NoError(t, err)
		id := game.GetId()
		env.awaitPaused(t, id)

		// No matter which server the watcher uses, the game must keep running for much longer
		// than it takes for an unwatched game to be paused.
		for n, s := range servers {
			ctx, cancel := context.WithCancel(t.Context())
			at := env.length(t, id)
			looked := time.Now()
			watch, err := env.anonymous(s).games.Watch(ctx, &pb.WatchRequest{GameId: id, EveryEvent: true, Preview: n == 0})
			require.NoError(t, err)
			for events := 0; time.Since(looked) < 3*time.Second || events < 3; {
				update, err := watch.Recv()
				require.NoError(t, err)
				if update.GetEvent() != nil {
					events++
				}
			}
			cancel()
			assert.Greater(t, env.length(t, id), at)
			env.awaitPaused(t, id)
		}
		for _, s := range servers {
			at := env.length(t, id)
			// Read repeatedly, because on a slow machine the game may be paused again before
			// the bot moves.
			looker := env.anonymous(s)
			waittest.Until(t, "the game continues", func() bool {
				_, err := looker.get(t.Context(), id)
				require.NoError(t, err)
				return env.length(t, id) > at
			})
			env.awaitPaused(t, id)
		}
		now, err := host.get(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, pb.GameStatus_GAME_STATUS_ACTIVE, now.GetStatus(), "a paused game was abandoned")
		env.awaitPaused(t, id) // The store is checked next, so all servers must have stopped writing.
	})
}

// Ensure that a game between bots ends if no client opens it for the time for which finished
// games are kept.
func TestExhibition_Ends(t *testing.T) {
	t.Parallel()
	env := newSQLiteEnv(t)
	s := env.serveWith(func(c *server.Config) {
		c.PauseAfter, c.AbandonAfter, c.KeepFinished = time.Second, 100*time.Millisecond, 3*time.Second
	})
	host := env.player(s)
	game, err := host.create(t.Context(), endless())
	require.NoError(t, err)
	env.markDamaged(game.GetId()) // The game may expire while the store is checked.
	waittest.Until(t, "game "+game.GetId()+" ends", func() bool {
		mine, err := host.games.ListGames(host.authorized(t.Context()), &pb.ListGamesRequest{PlayerId: "me"})
		require.NoError(t, err)
		for _, g := range mine.GetGames() {
			if g.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED {
				return assert.Equal(t, pb.Result_REASON_ABANDONED, g.GetResult().GetReason())
			}
		}
		return len(mine.GetGames()) == 0 // the finished game has already expired
	})
}

// Ensure that three servers together run no more games between bots than the limits allow, even
// if one server is killed and the others take over its games, and that new games can start when
// others have been paused.
func TestExhibition_Bounds(t *testing.T) {
	t.Parallel()
	const perPlayer, perAddress, perStore, pauseAfter = 3, 7, 7, 2 * time.Second
	redis := redistest.StartRedis(t)
	env := newUncheckedEnv(t, redis.Addr(), redistest.NewClient(t, redis.Addr()))
	flags := []string{
		fmt.Sprint("--max-bot-games-per-player=", perPlayer), fmt.Sprint("--max-bot-games-per-address=", perAddress),
		fmt.Sprint("--max-bot-games-per-store=", perStore), fmt.Sprint("--pause-after=", pauseAfter),
	}
	servers := []*testServer{env.serveProcess(flags...), env.serveProcess(flags...), env.serveProcess(flags...)}
	var hosts []*caller
	for range 5 {
		hosts = append(hosts, env.player(servers[0]))
	}
	// create creates games for every account on every server and returns the IDs of those that
	// were accepted. On a slow machine, some of them have paused before others are created.
	create := func(servers ...*testServer) []string {
		began := time.Now()
		var group errgroup.Group
		made := make(chan string, 100)
		for _, host := range hosts {
			for _, s := range servers {
				host := host.on(s)
				group.Go(func() error {
					for range perPlayer {
						request := endless()
						request.RequestId = id.New()
						game, err := host.create(t.Context(), request)
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
		assert.GreaterOrEqual(t, len(ids), perStore)
		assert.LessOrEqual(t, len(ids), perStore*(1+int(time.Since(began)/pauseAfter)))
		return ids
	}
	first := create(servers...)
	servers[0].stop()
	survivors := servers[1:]
	assert.LessOrEqual(t, env.running(t), int64(perStore))
	for _, id := range first {
		env.awaitPaused(t, id)
	}
	waittest.Until(t, "a killed server counts as running no games", func() bool { return env.running(t) == 0 })
	second := create(survivors...)

	// Reading all games must not make more of them run than the limit allows.
	for deadline := time.Now().Add(4 * time.Second); time.Now().Before(deadline); {
		for _, id := range slices.Concat(first, second) {
			_, err := hosts[0].on(survivors[0]).get(t.Context(), id)
			require.NoError(t, err)
			assert.LessOrEqual(t, env.running(t), int64(perStore))
		}
	}
}

// running returns the number of running games between bots on all servers.
func (env *env) running(t *testing.T) int64 {
	t.Helper()
	now, err := env.redis.Time(t.Context()).Result()
	require.NoError(t, err)
	n, err := env.redis.ZCount(t.Context(), "exhibitions", fmt.Sprint("(", now.UnixMilli()), "+inf").Result()
	require.NoError(t, err)
	return n
}

// hosts is the number of throwaway accounts in a flood of bots.
const hosts = 25

// Ensure that accounts that do nothing but create games between bots have little effect on other
// players: only as many of these games run as the limits allow, further games are refused, and
// the games pause once those accounts are gone.
func TestExhibition_Flood(t *testing.T) {
	t.Parallel()
	requests := []*pb.CreateGameRequest{
		endless(),
		{Variant: "6x6", Seats: []*pb.SeatRequest{{Occupant: &pb.SeatRequest_Bot{Bot: "expectimax"}}}},
		{Variant: "tribolo", Seats: []*pb.SeatRequest{minimaxBot, minimaxBot, minimaxBot}},
	}
	env, measure, _ := floodWithBots(t, "games between bots", func(ctx context.Context, n int, host *caller) (bots int, err error) {
		_, err = host.create(ctx, requests[n%len(requests)])
		return 1, err
	})
	waittest.Until(t, "no game between bots is running", func() bool { return env.running(t) == 0 })
	measure("no longer running games between bots")
}

// Ensure that accounts that start hour-long races with as many bots as possible have little effect
// on other players. Before the bots of races were limited, 25 accounts could make 10,900 bots move
// for an hour.
func TestRace_BotFlood(t *testing.T) {
	t.Parallel()
	_, measure, bots := floodWithBots(t, "races of bots", func(ctx context.Context, _ int, host *caller) (bots int, err error) {
		const most = challenge.MaxEntrants - 1
		authorized := host.authorized(ctx)
		created, err := host.challenges.CreateChallenge(authorized, &pb.CreateChallengeRequest{
			Kind: pb.ChallengeKind_CHALLENGE_KIND_RACE, Variant: "6x6", Limit: durationpb.New(time.Hour), Private: true,
		})
		if err != nil {
			return 0, err
		}
		race := created.GetChallenge().GetId()
		for range most {
			if _, err := host.challenges.JoinChallenge(authorized, &pb.JoinChallengeRequest{ChallengeId: race, Bot: "expectimax"}); err != nil {
				return 0, err
			}
		}
		_, err = host.challenges.StartChallenge(authorized, &pb.StartChallengeRequest{ChallengeId: race})
		return most, err
	})
	assert.Positive(t, bots)
	assert.LessOrEqual(t, bots, int64(limits.Default().BotGamesPerAddress))
	measure("running races of bots")
}

// floodWithBots starts a server and lets throwaway accounts call add until players' moves have been
// measured. add returns the number of bots that it made run. floodWithBots returns a function that
// measures players' moves again, and the total number of bots.
func floodWithBots(t *testing.T, name string, add func(ctx context.Context, n int, host *caller) (bots int, err error)) (
	env *env, measure func(flood string), bots int64,
) {
	t.Helper()
	redis := redistest.StartRedis(t)
	env = newUncheckedEnv(t, redis.Addr(), redistest.NewClient(t, redis.Addr()))
	server, g := env.serveMeasured("--max-moves-per-second=0", "--bot-pace=700ms")
	b := newBaseline(t, env.player(server))
	b.measureMoves(t) // warm up
	calm, before := b.measureMoves(t), g.read(t, residentMemory)
	measure = func(flood string) {
		var took []time.Duration
		for began := time.Now(); time.Since(began) < 10*time.Second; {
			took = append(took, b.measureMoves(t)...)
		}
		logMoves(t, flood, took, calm)
		logMemory(t, flood, g.read(t, residentMemory), before)
	}

	var group errgroup.Group
	ctx, cancel := context.WithCancel(t.Context())
	var made, refused atomic.Int64
	// They use another address, because the reads of one address are limited.
	from := (&flood{dialer: dialFrom(t, 62)}).dialOption()
	var accounts []*caller
	for range hosts {
		accounts = append(accounts, env.player(server, from))
	}
	for n, host := range accounts {
		group.Go(func() error {
			for ctx.Err() == nil {
				bots, err := add(ctx, n, host)
				r := refusalOf(err)
				switch {
				case ctx.Err() != nil:
				case err == nil:
					made.Add(int64(bots))
				case unavailable(err): // for example, because the machine stalled
				case r.code != codes.ResourceExhausted || r.retry <= 0:
					return err
				default:
					refused.Add(1)
				}
			}
			return nil
		})
	}
	measure(name)
	waittest.Until(t, "a call is refused", func() bool { return refused.Load() > 0 })
	assert.LessOrEqual(t, env.running(t), int64(limits.Default().BotGamesPerAddress))
	cancel()
	if err := group.Wait(); !errors.Is(err, context.Canceled) {
		require.NoError(t, err)
	}
	t.Logf("%d bots moved, %d calls refused", made.Load(), refused.Load())
	return env, measure, made.Load()
}
