package match

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game/replay"
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

// Ensure that the log contains exactly the acknowledged moves at their versions if players on
// three servers move as fast as they can.
func TestDo_FreeForAll(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		servers := []*server{env.serve(env.addr), env.serve(env.addr), env.serve(env.addr)}
		servers[0].create(name("a"), "6x6")
		const callers, length = 6, 150
		acknowledged := make([]map[int32]replay.Action, callers)
		var group sync.WaitGroup
		for i := range callers {
			m := servers[i%len(servers)].match(name("a"))
			if i < len(servers)-1 {
				// One of the servers has no watchers.
				defer m.newWatcher(t.Context(), Spectator).Close()
			}
			random := rand.New(rand.NewPCG(uint64(i), 1))
			acknowledged[i] = map[int32]replay.Action{}
			group.Go(func() {
				for {
					state := m.State()
					if state.Version >= length || state.Status == replay.Finished {
						return
					}
					call := move(state, random.IntN(4))
					event, err := m.Do(t.Context(), call)
					var conflict *VersionConflictError
					if errors.As(err, &conflict) {
						if !assert.Greater(t, conflict.Version, state.Version) {
							return
						}
						continue
					}
					if !assert.NoError(t, err) {
						return
					}
					acknowledged[i][event.Version()] = event.Entry.Action
				}
			})
		}
		group.Wait()
		last := env.check(name("a"), servers...)
		claimed := make([]int, last.Version+1)
		require.NoError(t, servers[0].Log.Replay(t.Context(), name("a"), gamelog.GenesisTip(name("a")), func(_ gamelog.Tip, e *replay.Event) error {
			if e.State.Version == 1 {
				return nil
			}
			for i := range callers {
				if action, ok := acknowledged[i][e.State.Version]; ok {
					claimed[e.State.Version]++
					assert.Equal(t, e.Entry.Action, action)
				}
			}
			assert.Positive(t, claimed[e.State.Version], "no caller claims version %d", e.State.Version)
			return nil
		}))
		for _, of := range acknowledged {
			for version := range of {
				require.LessOrEqual(t, version, last.Version)
			}
		}
	})
}
