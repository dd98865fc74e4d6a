//go:build slow

package match

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// Ensure that events that were appended while a server's feed connection was broken are
// delivered as soon as it reconnects.
func TestWatch_Reconnect(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		proxy := redistest.StartProxy(t, env.addr)
		far, near := env.serve(proxy.Addr()), env.serve(env.addr)
		near.create(name("a"), "6x6")
		m, mover := far.match(name("a")), near.match(name("a"))
		ctx := waittest.Context(t)
		done := make(chan shown, 1)
		var seen sync.Map
		go func() {
			done <- watch(ctx, m, 1, func(v int32) { seen.Store(v, true) })
		}()
		shows := func(version int32) {
			t.Helper()
			waittest.Until(t, "the watcher has seen the version", func() bool { _, ok := seen.Load(version); return ok })
		}
		mover.play(t, 2)
		shows(3)
		for i := range int32(3) {
			proxy.Refuse()
			mover.play(t, 2)
			proxy.Accept()
			shows(5 + 2*i)
		}
		mover.do(t, resign(0))
		got := <-done
		require.NoError(t, got.err)
		assert.Equal(t, []int32{2, 3, 4, 5, 6, 7, 8, 9, 10}, got.versions)
	})
}
