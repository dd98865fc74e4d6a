package match

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/gamelog"
)

// Ensure that of concurrent calls at the same version on two servers, those whose action is
// appended succeed and all others return a version conflict.
func TestDo_Concurrent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		a, b := env.serve(env.addr), env.serve(env.addr)
		state := a.create(name("a"), "6x6")
		matches := []*Match{a.match(name("a")), b.match(name("a"))}
		const callers = 8
		for round := range 30 {
			var group sync.WaitGroup
			events, errs, calls := make([]*Event, callers), make([]error, callers), make([]Call, callers)
			for i := range callers {
				calls[i] = move(state, 0)
				if round%3 > 0 {
					calls[i] = move(state, i/(round%3)) // Calls with neighboring indexes may make the same move.
				}
				group.Go(func() { events[i], errs[i] = matches[i%2].Do(t.Context(), calls[i]) })
			}
			group.Wait()
			next := env.check(name("a"), a, b)
			require.Equal(t, state.Version+1, next.Version)
			first, found, err := a.Log.At(t.Context(), name("a"), next.Version)
			require.NoError(t, err)
			require.True(t, found)
			logged, err := gamelog.EntryOf(first)
			require.NoError(t, err)
			for i := range callers {
				if calls[i].Action == logged.Action {
					require.NoError(t, errs[i])
					require.Equal(t, logged, events[i].Entry)
					same(t, next, events[i].State)
				} else {
					require.Equal(t, &VersionConflictError{Version: next.Version}, errs[i])
				}
			}
			state = next
		}
	})
}
