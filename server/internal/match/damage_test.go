package match

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/server/internal/gamelog"
)

// Ensure that a log that is swapped or emptied, or lacks an entry, while servers are running is reported as
// damaged to callers and watchers, that servers do not write to it, and that the game
// continues once the log is restored, even with a head that has fallen behind.
func TestDamage(t *testing.T) {
	t.Parallel()
	const length = 8
	emptied := func(env *env, gameID string) {
		require.NoError(env.t, env.client.Del(env.t.Context(), logKey(gameID)).Err())
	}
	swapped := func(env *env, gameID string) {
		env.serve(env.addr).begin(name("other"+gameID), "classic").play(env.t, length+2)
		require.NoError(env.t, env.client.Rename(env.t.Context(), logKey(name("other"+gameID)), logKey(gameID)).Err())
	}
	damages := []struct {
		name   string
		damage func(*env, string)
		last   int32
	}{
		{"swapped", swapped, 0},
		{"emptied", emptied, 0},
		{"entry missing", func(env *env, gameID string) {
			id := env.content(gameID).log[3].ID
			require.NoError(env.t, env.client.XDel(env.t.Context(), logKey(gameID), id).Err())
		}, 3},
	}
	each(t, func(t *testing.T, env *env) {
		for _, tt := range damages {
			t.Run(tt.name, func(t *testing.T) {
				env := newEnv(t, env.client)
				ctx, gameID := waittest.Context(t), name(tt.name)
				a, b := env.still(env.addr), env.serve(env.addr) // The first call finds the damage, not a periodic check.
				m, behind := a.begin(gameID, "classic"), b.match(gameID)
				m.play(t, length-1)
				watcher := m.newWatcher(t.Context(), Spectator)
				defer watcher.Close()
				m.confirm(t)

				good := env.content(gameID).log
				tt.damage(env, gameID)
				last := tt.last
				env.unwritten(gameID, func() {
					fresh := env.serve(env.addr)
					_, err := fresh.Acquire(ctx, gameID)
					require.Equal(t, last, damagedAt(t, err))
					for range 2 {
						for _, call := range []Call{
							move(m.State(), 0), move(m.State(), 1), resign(0), resign(3),
							{PlayerID: bob.ID, Seat: game.NoSeat, Action: replay.Resigned{}},
							{PlayerID: ann.ID, Version: 99, Seat: game.NoSeat, Action: replay.Moved{}},
						} {
							_, err := m.Do(ctx, call)
							require.Equal(t, last, damagedAt(t, err), "%+v", call)
						}
						_, err = m.Confirm(ctx)
						require.Equal(t, last, damagedAt(t, err))
						_, err = behind.Confirm(ctx)
						require.Equal(t, last, damagedAt(t, err))
						_, err = behind.Do(ctx, move(m.State(), 0))
						require.Equal(t, last, damagedAt(t, err))
						_, err = behind.Do(ctx, move(behind.State(), 0))
						damagedAt(t, err)
						update, _ := watcher.Next(length)
						require.Equal(t, last, damagedAt(t, update.Err))
						_, err = m.pastAfter(t, 0)
						if tt.last < length {
							require.Equal(t, last, damagedAt(t, err))
						}
					}
				})

				require.NoError(t, env.client.Del(ctx, logKey(gameID)).Err())
				env.put(gameID, good)
				require.NoError(t, env.client.HSet(ctx, metaKey(gameID), "last", good[0].ID).Err()) // The head has fallen behind.
				same(t, m.State(), behind.confirm(t))
				env.check(gameID, a, b)
				update, _ := watcher.Next(length)
				require.NoError(t, update.Err)
				m.play(t, 2)
				env.check(gameID, a, b)
			})
		}
	})
}

// Ensure that a game whose log and metadata are both gone is reported as damaged by a server that had it
// in memory, unless it was finished and has expired, and as not found by any other.
func TestDamage_Vanished(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		s := env.serve(env.addr)
		m, over := s.begin(name("a"), "classic"), s.begin(name("over"), "classic")
		m.play(t, 3)
		over.play(t, 3)
		over.do(t, resign(0))
		require.NoError(t, env.client.FlushAll(t.Context()).Err())
		_, err := m.Do(waittest.Context(t), move(m.State(), 0))
		assert.Zero(t, damagedAt(t, err))
		_, err = over.Confirm(waittest.Context(t))
		require.ErrorIs(t, err, gamelog.ErrNotFound)
		_, err = env.serve(env.addr).Acquire(waittest.Context(t), name("a"))
		assert.ErrorIs(t, err, gamelog.ErrNotFound)
	})
}

// Ensure that a server reports a game as damaged if Redis was rolled back to an earlier state
// than the server has seen, even though the log itself is consistent.
func TestDamage_RolledBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		ctx := waittest.Context(t)
		a, b := env.serve(env.addr), env.serve(env.addr)
		m := a.begin(name("a"), "6x6")
		m.play(t, 4)
		old := env.content(name("a"))
		m.play(t, 4)
		require.NoError(t, env.client.Del(ctx, logKey(name("a"))).Err())
		env.put(name("a"), old.log)
		require.NoError(t, env.client.HSet(ctx, metaKey(name("a")), old.meta).Err())

		_, err := m.Confirm(ctx)
		require.EqualValues(t, 5, damagedAt(t, err))
		// A server that has not seen the later entries continues the game, even past the
		// versions of those entries, and with an undo.
		newer := b.match(name("a"))
		for range 6 {
			if newer.State().Version == 9 {
				newer.undo(t, 2)
			} else {
				newer.do(t, move(newer.State(), 1))
			}
			_, err = m.Do(ctx, move(m.State(), 0))
			require.Equal(t, newer.State().Version, damagedAt(t, err))
			_, err = m.Confirm(ctx)
			require.Equal(t, newer.State().Version, damagedAt(t, err))
		}
		require.EqualValues(t, 9, m.State().Version)
		env.check(name("a"), b)
	})
}

// Ensure that a published event is ignored unless the log contains it.
func TestPublished_Forged(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		ctx := waittest.Context(t)
		s := env.serve(env.addr)
		m := s.begin(name("a"), "classic")
		watcher := m.newWatcher(t.Context(), Spectator)
		defer watcher.Close()
		state := m.play(t, 3)
		// Publish a move from another history, a version far ahead, and garbage.
		entry := env.content(name("a")).log[2].Values["e"].(string)
		for _, payload := range []string{
			"e 5-77 9999999999999 " + entry, "e 99-77 1 x", "e 5-77 1 ", "a -5", "e 4-1 1 x",
			"x", "e", "e ", "e 1-1", "e 1-1 x y", "e x 1 y", "a", "a ", "a x",
		} {
			require.NoError(t, env.client.Publish(ctx, "game:{"+name("a")+"}:feed", payload).Err())
		}
		require.Equal(t, state.Version, m.confirm(t).Version)
		update, _ := watcher.Next(state.Version)
		require.NoError(t, update.Err)
		m.play(t, 1)
		env.check(name("a"), s)
	})
}

// Ensure that calls and watchers get ErrUnknown for a game that a newer server has continued
// with an unknown entry, and that no server loads or changes such a game.
func TestUnknown(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		ctx := waittest.Context(t)
		s := env.serve(env.addr)
		m := s.begin(name("a"), "classic")
		state := m.play(t, 3)
		watcher := m.newWatcher(t.Context(), Spectator)
		defer watcher.Close()
		m.confirm(t)
		// Append an entry with the unknown field 31.
		env.put(name("a"), []redis.XMessage{{ID: "5-77", Values: map[string]any{"t": "9999999999999", "e": "\xfa\x01\x00"}}})
		require.NoError(t, env.client.HSet(ctx, metaKey(name("a")), "last", "5-77").Err())
		env.unwritten(name("a"), func() {
			_, err := m.Do(ctx, move(state, 0))
			require.ErrorIs(t, err, replay.ErrUnknown)
			_, err = m.Confirm(ctx)
			require.ErrorIs(t, err, replay.ErrUnknown)
			_, err = env.serve(env.addr).Acquire(ctx, name("a"))
			require.ErrorIs(t, err, replay.ErrUnknown)
			update, _ := watcher.Next(state.Version)
			require.ErrorIs(t, update.Err, replay.ErrUnknown)
		})
	})
}
