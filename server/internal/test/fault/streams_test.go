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

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	watchtest "github.com/gridstand/gridstand/internal/testkit/watch"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// The bugs that streams of events are known for have a test each: for going back
// in time after a partition TestWatch_partition and TestServerPaused, and for the
// others those of this file.

// streamed is how long the games of these tests are.
const streamed = 60

// playOn moves from one of the servers and another by turns up to a version,
// resigns, and waits until all watchers saw that.
func playOn(t *testing.T, game *pb.Game, to int32, watchers []*watcher, clients ...*caller) {
	t.Helper()
	require.NoError(t, play(t.Context(), seeded(t), game, to, func(int32) {}, clients...))
	for _, each := range watchers {
		require.NoError(t, each.ends(t))
		assert.Equal(t, to+1, each.version())
	}
}

// Ensure that an event is shown once however often it is published, in whatever
// order, and whatever else is.
func TestWatch_twice(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		first, second := w.serve(w.addr), w.serve(w.addr)
		player := w.player(first)
		game := player.start(t, "6x6")
		channel := "game:{" + game.GetId() + "}:feed"
		feed := w.store.Subscribe(t.Context(), channel)
		t.Cleanup(func() { _ = feed.Close() })
		_, err := feed.Receive(t.Context())
		require.NoError(t, err)
		var watchers []*watcher
		for _, s := range []*testServer{first, second} {
			for _, how := range []watching{{}, {every: true}, {after: fromStart()}, {cut: 2}} {
				watchers = append(watchers, w.anybody(s).watch(t, game.GetId(), how))
			}
		}
		rng := seeded(t)
		last := player.playTo(t, rng, game, streamed/2)
		published := heard(t, feed, streamed/2-1)
		version := last.GetVersion()
		for _, i := range rng.Perm(len(published)) {
			id, rest, _ := strings.Cut(strings.TrimPrefix(published[i], "e "), " ")
			_, digest, _ := strings.Cut(id, "-")
			for _, message := range []string{
				published[i], published[i],
				fmt.Sprintf("e %d-%s %s", version+1, digest, rest),
				fmt.Sprintf("e %d-%s %s", version+5, digest, rest),
			} {
				require.NoError(t, w.store.Publish(t.Context(), channel, message).Err())
			}
			last = player.playTo(t, rng, after(last), version+1)
			version = last.GetVersion()
		}
		playOn(t, after(last), version, watchers, player)
	})
}

// heard is the next n entries that are published on a feed.
func heard(t *testing.T, feed *redis.PubSub, n int) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var entries []string
	for len(entries) < n {
		message, err := feed.ReceiveMessage(ctx)
		require.NoError(t, err, "nothing is published")
		if strings.HasPrefix(message.Payload, "e ") {
			entries = append(entries, message.Payload)
		}
	}
	return entries
}

// Ensure that those who come back again and again, after each version or two, to
// whichever server, miss nothing and are shown nothing twice.
func TestWatch_resumed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		first, second := w.serve(w.addr), w.serve(w.addr)
		player := w.player(first)
		game := player.start(t, "6x6")
		anybody := w.anybody(behind(first, second))
		var watchers []*watcher
		for _, how := range []watching{
			{cut: 1}, {cut: 2}, {cut: 1, every: true}, {cut: 3, every: true}, {cut: 1, after: fromStart()}, {cut: 2, after: fromStart(), every: true},
		} {
			watchers = append(watchers, anybody.watch(t, game.GetId(), how))
		}
		playOn(t, game, streamed, watchers, player, player.on(second))
	})
}

// Ensure that one who reads nothing until a game is over, while it leaves the
// memory of the server, gets every event where it asked for that, also over
// streams that end on the way.
func TestWatch_starved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, redistest.StartRedis(t).Addr())
	s := w.serve(w.addr)
	player := w.player(s)
	game := player.start(t, "6x6")
	gate := make(chan struct{})
	var watchers []*watcher
	for _, how := range []watching{{every: true}, {every: true, cut: 50}, {every: true, cut: 90, after: fromStart()}, {}, {cut: 70}} {
		how.gate = gate
		watchers = append(watchers, w.anybody(s).watch(t, game.GetId(), how))
	}
	require.Eventually(t, func() bool {
		g, err := player.get(t.Context(), game.GetId())
		return assert.NoError(t, err) && int(g.GetWatchers()) == len(watchers)
	}, patience, 20*time.Millisecond, "not all watch")
	require.NoError(t, play(t.Context(), seeded(t), game, longGame, func(int32) {}, player))
	close(gate)
	for _, each := range watchers {
		require.NoError(t, each.ends(t))
		assert.EqualValues(t, longGame+1, each.version())
		switch {
		case each.every:
			assert.Zero(t, each.covered())
		case each.cut == 0: // Whoever resumes gets what it missed.
			assert.NotZero(t, each.covered(), "it was sent everything")
		}
	}
}

// Ensure that those who ask for what follows a version that is not there yet
// are told so, or shown what follows it, and never what went before.
func TestWatch_ahead(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		first, second := w.serve(w.addr), w.serve(w.addr)
		player := w.player(first)
		game := player.start(t, "6x6")
		for _, s := range []*testServer{first, second} {
			early, err := w.anybody(s).ahead(t.Context(), game.GetId(), 1)
			require.NoError(t, err)
			assert.True(t, early)
		}
		group, ctx := errgroup.WithContext(t.Context())
		refused := make([]int, 4)
		for n := range refused {
			c := w.anybody([]*testServer{first, second}[n%2])
			rng := rand.New(rand.NewPCG(uint64(n), 19))
			group.Go(func() error {
				for w.told.newest(game.GetId()) <= streamed {
					early, err := c.ahead(ctx, game.GetId(), rng.Int32N(4))
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

// ahead watches from so many versions after the latest that anybody knows of
// until something is shown, or reports that it was refused as too early.
func (c *caller) ahead(ctx context.Context, gameID string, by int32) (early bool, _ error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reached := c.w.told.newest(gameID)
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
			return false, c.w.told.update(message)
		}
	}
}
