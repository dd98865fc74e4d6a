//go:build slow

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

// Ensure that all responses about a game that many clients receive from two servers are
// linearizable, even if the servers repeatedly lose their connection to Redis. That is, the
// calls can be ordered such that each takes effect between its start and its end. The clients'
// choices and the faults are the same in every run. TestStorm checks the same with all other faults.
func TestLinearizable(t *testing.T) {
	t.Parallel()
	onRedis(t, func(t *testing.T, env *env) {
		proxies := []*redistest.Proxy{redistest.StartProxy(t, env.addr), redistest.StartProxy(t, env.addr)}
		first, second := env.serveVia(proxies[0].Addr()), env.serveVia(proxies[1].Addr())
		const seed, calls = 42, 15
		all := map[string]*workload{}
		group, ctx := errgroup.WithContext(t.Context())
		for name, scenario := range scenarios {
			w, err := scenario.open(t.Context(), accounts(env, first, second))
			require.NoError(t, err)
			w.calls = calls
			all[name] = w
			group.Go(func() error { return w.run(ctx, seed) })
		}
		done := make(chan error, 1)
		go func() { done <- group.Wait() }()
		rng := rand.New(rand.NewPCG(seed, 99))
		var faults int
		for running := true; running; faults++ {
			injectRedisFault(t, env, rng, proxies[rng.IntN(2)])
			select {
			case err := <-done:
				require.NoError(t, err)
				running = false
			case <-time.After(time.Duration(rng.IntN(100)) * time.Millisecond):
			}
		}
		fresh := env.anonymous(env.serve())
		for name, w := range all {
			t.Logf("%s: %d calls, %d of unknown outcome, among %d faults", name, len(w.history.all), w.history.unknownOutcomes(), faults)
			assert.Equal(t, porcupine.Ok, w.checkLinearizable(t, env.genesis(t, fresh, w.game)), name)
		}
	})
}

// injectRedisFault injects a fault between one server and Redis, and then ends it.
func injectRedisFault(t *testing.T, env *env, rng *rand.Rand, proxy *redistest.Proxy) {
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
		assert.NoError(t, env.redis.ScriptFlush(t.Context()).Err())
	}
}
