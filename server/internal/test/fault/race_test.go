package fault

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// raceTo is the version up to which two clients race each other, and freeTo is the version up to
// which several clients make moves without taking turns.
const (
	raceTo = 200
	freeTo = 120
)

// onOneAndTwoServers runs test twice: with both clients on one server, and with each on its own
// server.
func onOneAndTwoServers(t *testing.T, test func(t *testing.T, env *env, first, second *testServer)) {
	t.Helper()
	each(t, func(t *testing.T, env *env) {
		first, second := env.servePair()
		t.Run("one server", func(t *testing.T) {
			t.Parallel()
			test(t, env, first, first)
		})
		t.Run("two servers", func(t *testing.T) {
			t.Parallel()
			test(t, env, first, second)
		})
	})
}

// Ensure that if two of a player's clients concurrently send different moves for the same
// version, exactly one of them wins, and that if they send the same move, both get the same
// event.
func TestRace(t *testing.T) {
	t.Parallel()
	onOneAndTwoServers(t, func(t *testing.T, env *env, first, second *testServer) {
		one := env.player(first)
		clients := [2]*caller{one, one.on(second)}
		game := one.start(t, "6x6")
		watchers := []*watcher{
			env.anonymous(first).watch(t, game.GetId(), watching{every: true}),
			env.anonymous(second).watch(t, game.GetId(), watching{after: fromStart()}),
		}
		rng := seeded(t)
		version, position := game.GetVersion(), game.GetPosition()
		var wins [2]int
		for version < raceTo {
			legal := slices.Clone(position.GetTwenty48().GetLegalMoves())
			rng.Shuffle(len(legal), func(i, j int) { legal[i], legal[j] = legal[j], legal[i] })
			wanted := [2]pb.Direction{legal[0], legal[rng.IntN(2)%len(legal)]}
			events, errs := moveTogether(t.Context(), clients, game.GetId(), version, wanted)

			winner := 0
			if errs[0] != nil {
				winner = 1
			}
			require.NoError(t, errs[winner], "no client won version %d", version+1)
			if loser := 1 - winner; wanted[0] == wanted[1] {
				require.NoError(t, errs[loser], "the same move at version %d", version)
				requireSame(t, events[winner], events[loser])
			} else {
				require.Error(t, errs[loser], "two moves at version %d", version)
				r := refusalOf(errs[loser])
				require.Equal(t, codes.Aborted, r.code, "%v", errs[loser])
				require.Equal(t, pb.ReasonVersionConflict, r.reason)
				require.Equal(t, map[string]string{"version": strconv.Itoa(int(version) + 1)}, r.metadata)
				wins[winner]++
			}
			version, position = version+1, events[winner].GetPosition()
		}
		t.Logf("different moves: the first client won %d times, the second %d times", wins[0], wins[1])
		_, err := clients[1].resign(t.Context(), game.GetId())
		require.NoError(t, err)
		for _, each := range watchers {
			require.NoError(t, each.awaitEnd(t))
		}
	})
}

// moveTogether makes both moves concurrently and returns the result of each.
func moveTogether(ctx context.Context, clients [2]*caller, gameID string, version int32, wanted [2]pb.Direction) (events [2]*pb.Event, errs [2]error) {
	start := make(chan struct{})
	var group errgroup.Group
	for i, c := range clients {
		group.Go(func() error {
			<-start
			events[i], errs[i] = c.move(ctx, gameID, version, wanted[i])
			return nil
		})
	}
	close(start)
	_ = group.Wait() // the goroutines return no errors
	return events, errs
}

// Ensure that many clients of one player get consistent responses even if they make moves as
// fast as they can: a client that loses a race for a version is told a later version, and no
// client receives a game older than one that another client has already received.
func TestRace_Free(t *testing.T) {
	t.Parallel()
	onOneAndTwoServers(t, func(t *testing.T, env *env, first, second *testServer) {
		one := env.player(first)
		game := one.start(t, "6x6")
		watcher := env.anonymous(second).watch(t, game.GetId(), watching{})
		var newest, conflicts atomic.Int32
		newest.Store(game.GetVersion())
		group, ctx := errgroup.WithContext(t.Context())
		for n, c := range []*caller{one, one.on(second), one.on(first), one.on(second)} {
			rng := rand.New(rand.NewPCG(uint64(n), 5))
			group.Go(func() error {
				lost, err := c.hammer(ctx, rng, game, &newest)
				conflicts.Add(int32(lost))
				return err
			})
		}
		require.NoError(t, group.Wait())
		assert.NotZero(t, conflicts.Load(), "no moves conflicted")
		_, err := one.resign(t.Context(), game.GetId())
		require.NoError(t, err)
		require.NoError(t, watcher.awaitEnd(t))
	})
}

// hammer makes moves until the game is at freeTo, and returns the number of versions that other
// clients won. newest is the latest version that any of the clients has received.
func (c *caller) hammer(ctx context.Context, rng *rand.Rand, game *pb.Game, newest *atomic.Int32) (lost int, err error) {
	tell := func(version int32) {
		for known := newest.Load(); version > known; known = newest.Load() {
			if newest.CompareAndSwap(known, version) {
				return
			}
		}
	}
	version, position := game.GetVersion(), game.GetPosition()
	for version < freeTo {
		before := newest.Load()
		event, err := c.move(ctx, game.GetId(), version, random(rng, position))
		if err == nil {
			version, position = event.GetVersion(), event.GetPosition()
			tell(version)
			continue
		}
		r := refusalOf(err)
		at, _ := strconv.Atoi(r.metadata["version"])
		if r.reason != pb.ReasonVersionConflict || int32(at) < max(version+1, before) {
			return lost, fmt.Errorf("moving at version %d after a client had received %d: %w", version, before, err)
		}
		lost++
		before = max(newest.Load(), int32(at))
		current, err := c.get(ctx, game.GetId())
		if err != nil {
			return lost, err
		}
		if current.GetVersion() < before {
			return lost, fmt.Errorf("a game at version %d after a client had received %d", current.GetVersion(), before)
		}
		version, position = current.GetVersion(), current.GetPosition()
		tell(version)
	}
	return lost, nil
}
