//go:build slow

package fault

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

const (
	movingPlayers = 4 // number of players who move during the faults
	// movesOfOne is the number of moves that each player makes. It is less than the number of
	// events that a server keeps in memory, so that no watcher needs to be sent the whole game.
	movesOfOne = 60
)

// moveThrough makes players move on two servers that reach Redis at the given address, and
// injects a fault after every faultEvery moves. All that clients may notice is that a call has
// to be retried.
func moveThrough(t *testing.T, env *env, redis string, faultEvery int32, fault func(context.Context) error) {
	t.Helper()
	first, second := env.serveVia(redis), env.serveVia(redis)
	var watchers []*watcher
	var moves atomic.Int32
	faults := make(chan struct{}, movingPlayers*movesOfOne)
	group, ctx := errgroup.WithContext(t.Context())
	for n := range movingPlayers {
		here := env.player(first)
		there := here.on(second)
		game := here.start(t, "6x6")
		watchers = append(watchers,
			env.anonymous(first).watch(t, game.GetId(), watching{}),
			env.anonymous(second).watch(t, game.GetId(), watching{every: true}))
		rng := rand.New(rand.NewPCG(uint64(n), 6))
		group.Go(func() error {
			return play(ctx, rng, game, movesOfOne, func(int32) {
				if moves.Add(1)%faultEvery == 0 {
					faults <- struct{}{}
				}
			}, here, there)
		})
	}
	finished := make(chan error, 1)
	go func() { finished <- group.Wait() }()
	for done := false; !done; {
		select {
		case <-faults:
			require.NoError(t, fault(t.Context()))
		case err := <-finished:
			require.NoError(t, err)
			done = true
		}
	}
	for _, each := range watchers {
		require.NoError(t, each.awaitEnd(t))
		require.Zero(t, each.covered())
	}
}
