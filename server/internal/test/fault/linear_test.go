package fault

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
)

// Ensure that everything that many clients are told of a game, on two servers
// whose ways to Redis break again and again, can be told in one order in which
// each call happens at a moment between its beginning and its end. TestStorm_long
// takes such histories under all other faults.
func TestLinearizable(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		proxies := []*redistest.Proxy{redistest.StartProxy(t, w.addr), redistest.StartProxy(t, w.addr)}
		first, second := w.serve(proxies[0].Addr()), w.serve(proxies[1].Addr())
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		all := map[string]*arena{}
		group, ctx := errgroup.WithContext(t.Context())
		for name, stage := range stages {
			a, err := stage.open(t.Context(), accounts(w, first, second))
			require.NoError(t, err)
			all[name] = a
			group.Go(func() error { return a.run(ctx, seed) })
		}
		done := make(chan error, 1)
		go func() { done <- group.Wait() }()
		rng := rand.New(rand.NewPCG(seed, 99))
		var faults int
		for running := true; running; faults++ {
			harass(t, w, rng, proxies[rng.IntN(2)])
			select {
			case err := <-done:
				require.NoError(t, err)
				running = false
			case <-time.After(time.Duration(rng.IntN(100)) * time.Millisecond):
			}
		}
		fresh := w.anybody(w.serve(w.addr))
		for name, a := range all {
			t.Logf("%s: %d calls, %d of unknown outcome, among %d faults", name, len(a.history.all), a.history.unknown(), faults)
			assert.Equal(t, porcupine.Ok, a.judge(t, w.genesis(t, fresh, a.game)), name)
		}
	})
}

// harass does something to one server's way to Redis, and ends it.
func harass(t *testing.T, w *world, rng *rand.Rand, proxy *redistest.Proxy) {
	wait := func() { <-time.After(time.Duration(rng.IntN(150)) * time.Millisecond) }
	switch rng.IntN(5) {
	case 0:
		proxy.Cut()
	case 1:
		release := proxy.Hold()
		wait()
		release()
	case 2:
		proxy.Refuse()
		wait()
		proxy.Accept()
	case 3:
		proxy.Lose(1+rng.IntN(3), "evalsha")
	case 4:
		assert.NoError(t, w.store.ScriptFlush(t.Context()).Err())
	}
}
