package fault

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	watchtest "github.com/gridstand/gridstand/internal/testkit/watch"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// There is a test for each known bug in event streams. TestWatch_Partition and TestServer_Paused_long
// cover streams that go back in time after a partition; the tests in this file cover the others.

// streamed is the length of the games in these tests.
const streamed = 60

// playOn plays up to a version on random servers, resigns, and waits until all watchers have
// seen the resignation.
func playOn(t *testing.T, game *pb.Game, to int32, watchers []*watcher, clients ...*caller) {
	t.Helper()
	require.NoError(t, play(t.Context(), seeded(t), game, to, func(int32) {}, clients...))
	for _, each := range watchers {
		require.NoError(t, each.awaitEnd(t))
		assert.Equal(t, to+1, each.version())
	}
}

// Ensure that an event is sent to watchers only once, no matter how often and in what order it
// is published, and no matter what else is published.
func TestWatch_Twice(t *testing.T) {
	t.Parallel()
	onRedis(t, func(t *testing.T, env *env) {
		first, second := env.servePair()
		player := env.player(first)
		game := player.start(t, "6x6")
		channel := "game:{" + game.GetId() + "}:feed"
		feed := env.redis.Subscribe(t.Context(), channel)
		t.Cleanup(func() { _ = feed.Close() })
		_, err := feed.Receive(t.Context())
		require.NoError(t, err)
		var watchers []*watcher
		for _, s := range []*testServer{first, second} {
			for _, how := range []watching{{}, {every: true}, {after: fromStart()}, {cut: 2}} {
				watchers = append(watchers, env.anonymous(s).watch(t, game.GetId(), how))
			}
		}
		rng := seeded(t)
		last := player.playTo(t, rng, game, streamed/2)
		published := receive(t, feed, streamed/2-1)
		version := last.GetVersion()
		for _, i := range rng.Perm(len(published)) {
			id, rest, _ := strings.Cut(strings.TrimPrefix(published[i], "e "), " ")
			_, digest, _ := strings.Cut(id, "-")
			for _, message := range []string{
				published[i], published[i],
				fmt.Sprintf("e %d-%s %s", version+1, digest, rest),
				fmt.Sprintf("e %d-%s %s", version+5, digest, rest),
			} {
				require.NoError(t, env.redis.Publish(t.Context(), channel, message).Err())
			}
			last = player.playTo(t, rng, after(last), version+1)
			version = last.GetVersion()
		}
		playOn(t, after(last), version, watchers, player)
	})
}

// receive returns the next n entries that are published on a feed.
func receive(t *testing.T, feed *redis.PubSub, n int) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var entries []string
	for len(entries) < n {
		message, err := feed.ReceiveMessage(ctx)
		require.NoError(t, err, "no entry was published")
		if strings.HasPrefix(message.Payload, "e ") {
			entries = append(entries, message.Payload)
		}
	}
	return entries
}

// Ensure that watchers that reconnect to any server after every version or two neither miss an
// event nor receive one twice.
func TestWatch_Resumed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		first, second := env.servePair()
		player := env.player(first)
		game := player.start(t, "6x6")
		reader := env.anonymous(behind(first, second))
		var watchers []*watcher
		for _, how := range []watching{
			{cut: 1}, {cut: 2}, {cut: 1, every: true}, {cut: 3, every: true}, {cut: 1, after: fromStart()}, {cut: 2, after: fromStart(), every: true},
		} {
			watchers = append(watchers, reader.watch(t, game.GetId(), how))
		}
		playOn(t, game, streamed, watchers, player, player.on(second))
	})
}

// Ensure that a watcher that requests every event receives every event, even if it reads nothing
// until its game is over and has left the server's memory, and even if its streams end early.
func TestWatch_Starved_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	env := newEnv(t, redistest.StartRedis(t).Addr())
	s := env.serve()
	player := env.player(s)
	game := player.start(t, "6x6")
	gate := make(chan struct{})
	var watchers []*watcher
	for _, how := range []watching{{every: true}, {every: true, cut: 50}, {every: true, cut: 90, after: fromStart()}, {}, {cut: 70}} {
		how.gate = gate
		watchers = append(watchers, env.anonymous(s).watch(t, game.GetId(), how))
	}
	require.Eventually(t, func() bool {
		g, err := player.get(t.Context(), game.GetId())
		return assert.NoError(t, err) && int(g.GetWatchers()) == len(watchers)
	}, patience, 20*time.Millisecond, "not all watchers are counted")
	require.NoError(t, play(t.Context(), seeded(t), game, longGame, func(int32) {}, player))
	close(gate)
	for _, each := range watchers {
		require.NoError(t, each.awaitEnd(t))
		assert.EqualValues(t, longGame+1, each.version())
		switch {
		case each.every:
			assert.Zero(t, each.covered())
		case each.cut == 0: // A resuming watcher gets what it missed.
			assert.NotZero(t, each.covered(), "the watcher was sent every event")
		}
	}
}

// Ensure that a watcher that requests the events after a future version is refused or receives
// later events, but never receives earlier ones.
func TestWatch_Ahead(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		first, second := env.servePair()
		player := env.player(first)
		game := player.start(t, "6x6")
		for _, s := range []*testServer{first, second} {
			early, err := env.anonymous(s).watchAhead(t.Context(), game.GetId(), 1)
			require.NoError(t, err)
			assert.True(t, early)
		}
		group, ctx := errgroup.WithContext(t.Context())
		refused := make([]int, 4)
		for n := range refused {
			c := env.anonymous([]*testServer{first, second}[n%2])
			rng := rand.New(rand.NewPCG(uint64(n), 19))
			group.Go(func() error {
				for env.observed.latestVersion(game.GetId()) <= streamed {
					early, err := c.watchAhead(ctx, game.GetId(), rng.Int32N(4))
					if err != nil {
						return err
					}
					if early {
						refused[n]++
					}
				}
				return nil
			})
		}
		playOn(t, game, streamed, nil, player, player.on(second))
		require.NoError(t, group.Wait())
		t.Log("too early, by client:", refused)
	})
}

// watchAhead opens a stream that starts after a version that is the given number of versions
// ahead of the latest observed one. It returns when a message has arrived, or reports that the
// server refused the request as too early.
func (c *caller) watchAhead(ctx context.Context, gameID string, by int32) (early bool, _ error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reached := c.env.observed.latestVersion(gameID)
	history := watchtest.Begin(&pb.WatchRequest{GameId: gameID, AfterVersion: proto.Int32(reached + by)})
	stream, err := c.games.Watch(ctx, history.Open(reached))
	if err != nil {
		return false, err
	}
	for {
		message, err := stream.Recv()
		if err != nil {
			_, judged := history.End(err)
			early = refusalOf(err).reason == pb.ReasonVersionConflict
			if early && errors.Is(err, judged) {
				judged = nil
			}
			return early, judged
		}
		if err := history.Take(message); err != nil {
			return false, err
		}
		if message.GetEvent() != nil {
			return false, c.env.observed.update(message)
		}
	}
}
