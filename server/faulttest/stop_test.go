package faulttest

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// Ensure that a server which is told to stop answers every call that it carries
// out, so that servers can be replaced while people play.
func TestServerStopped(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		const players, stops, movesBetween = 8, 3, 100
		f := newFleet(w.serve(w.addr))
		group, ctx := errgroup.WithContext(t.Context())
		ctx, cancel := context.WithCancel(ctx)
		t.Cleanup(func() { cancel(); _ = group.Wait() })
		var all []*mover
		for n := range players {
			m := newMover(w.player(f.current()), f)
			all = append(all, m)
			rng := rand.New(rand.NewPCG(uint64(n), 9))
			group.Go(func() error { return m.run(ctx, rng) })
		}
		for range stops {
			f.acknowledged(t, movesBetween)
			f.current().stop()
			f.allWait(t, players)
			for _, m := range all {
				if m.acked > 0 {
					require.EqualValues(t, m.acked, w.length(t, m.gameID), "a call was carried out and not answered")
				}
			}
			f.replace(w.serve(w.addr))
		}
		f.stop()
		require.NoError(t, group.Wait())
	})
}
