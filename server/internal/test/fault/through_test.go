package fault

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

const (
	movingPlayers = 4 // players who move through a fault
	// movesOfOne player: fewer than the events that a server remembers, so that
	// there is no excuse for a game in their place.
	movesOfOne = 60
)

// moveThrough lets players move on two servers, which reach Redis at the given
// address, and causes a fault after each so many moves. Nobody may notice more
// than that a call has to be sent again.
func moveThrough(t *testing.T, w *world, redis string, faultEvery int32, fault func(context.Context) error) {
	t.Helper()
	first, second := w.serve(redis), w.serve(redis)
	var watchers []*watcher
	var moves atomic.Int32
	faults := make(chan struct{}, movingPlayers*movesOfOne)
	group, ctx := errgroup.WithContext(t.Context())
	for n := range movingPlayers {
		here := w.player(first)
		there := here.on(second)
		game := here.start(t, "6x6")
		watchers = append(watchers,
			w.anybody(first).watch(t, game.GetId(), watching{}),
			w.anybody(second).watch(t, game.GetId(), watching{every: true}))
		rng := rand.New(rand.NewPCG(uint64(n), 6))
		group.Go(func() error {
			return insist(ctx, rng, game, movesOfOne, func() {
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
			// What is cut may be the answer to the fault itself.
			require.NoError(t, fault(t.Context()))
		case err := <-finished:
			require.NoError(t, err)
			done = true
		}
	}
	for _, each := range watchers {
		require.NoError(t, each.ends(t))
		require.Zero(t, each.covered())
	}
}

// insist moves at random up to a version and resigns there, through clients of
// one player by chance. A call that finds something unavailable is sent again
// until it is answered; whatever it is, it must not be answered with a refusal.
func insist(ctx context.Context, rng *rand.Rand, game *pb.Game, giveUp int32, moved func(), clients ...*caller) error {
	version, position := game.GetVersion(), game.GetPosition()
	for over := false; !over; {
		var event *pb.Event
		direction := random(rng, position)
		err := retry(ctx, func(ctx context.Context) (err error) {
			c := clients[rng.IntN(len(clients))]
			if version < giveUp {
				event, err = c.move(ctx, game.GetId(), version, direction)
			} else {
				event, err = c.resign(ctx, game.GetId())
			}
			return err
		})
		if err != nil {
			return err
		}
		version, position, over = event.GetVersion(), event.GetPosition(), event.GetResult() != nil
		moved()
	}
	return nil
}
