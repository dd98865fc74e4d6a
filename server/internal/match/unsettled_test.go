package match

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/server/internal/store"
)

// briefly returns a context that expires soon.
func briefly(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

// requireUnsettled makes a call that its caller gives up once the append has begun, while its outcome is
// unknown.
func requireUnsettled(t *testing.T, m *Match, call Call) {
	t.Helper()
	ctx, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	ended := make(chan error, 1)
	go func() {
		_, err := m.Do(ctx, call)
		ended <- err
	}()
	waittest.Until(t, "the append begins", func() bool { return len(m.writing) == 1 })
	giveUp()
	err := waittest.Receive(t, "the end of the call", ended)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, store.ErrUnsettled)
}

// Ensure that a call whose reply from Redis is lost still finds out whether its entry was
// appended.
func TestDo_LostReply(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		proxy := redistest.StartProxy(t, env.addr)
		s := env.serve(proxy.Addr())
		lost := proxy.Lose(1)
		s.create(name("a"), "classic")
		<-lost
		m := s.match(name("a"))
		for i := range 5 {
			lost = proxy.Lose(1 + i%2)
			m.play(t, 1)
			for range 1 + i%2 {
				<-lost
			}
		}
		lost = proxy.Lose(1)
		m.do(t, resign(0))
		<-lost
		assert.Equal(t, []int32{2, 3, 4, 5, 6, 7}, s.seen.versions())
		_, ended := s.work.counts()
		assert.Equal(t, 1, ended)
		env.check(name("a"), s)
	})
}

// Ensure that an append whose caller gave up before its outcome was known is still settled,
// takes effect once, and blocks further calls until then.
func TestDo_Unsettled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		proxy := redistest.StartProxy(t, env.addr)
		s, other := env.serve(proxy.Addr()), env.serve(env.addr)
		m, elsewhere := s.begin(name("a"), "classic"), other.match(name("a"))

		for _, away := range []struct{ begin, end func() }{
			{func() { proxy.Hold() }, func() { proxy.Hold()() }},
			{proxy.Refuse, proxy.Accept},
		} {
			state := m.State()
			call, different := move(state, 0), move(state, 1)
			away.begin()
			requireUnsettled(t, m, call)
			require.Equal(t, state.Version, m.State().Version)
			for _, c := range []Call{call, different} {
				_, err := m.Do(briefly(t), c)
				require.ErrorIs(t, err, context.DeadlineExceeded, "no call is decided on a state that may be out of date")
			}
			away.end()
			again := m.do(t, call)
			require.Equal(t, state.Version+1, again.State.Version)
			_, err := m.Do(waittest.Context(t), different)
			require.Equal(t, &VersionConflictError{Version: state.Version + 1}, err)
			env.check(name("a"), s, other)
		}

		// Let another caller append first while the outcome is unknown.
		state := m.State()
		proxy.Refuse()
		requireUnsettled(t, m, move(state, 0))
		elsewhere.do(t, move(state, 1))
		proxy.Accept()
		_, err := m.Do(waittest.Context(t), move(state, 0))
		require.Equal(t, &VersionConflictError{Version: state.Version + 1}, err)
		env.check(name("a"), s, other)

		// Ensure that the end of a game is processed even though its caller has given up.
		proxy.Refuse()
		requireUnsettled(t, m, resign(0))
		proxy.Accept()
		waittest.Until(t, "the end of the game is processed", func() bool {
			soon, ended := s.work.counts()
			return ended == 1 && soon > 2 // A job is stored before each attempt to append, as before the creation.
		})
		last := env.check(name("a"), s, other)
		assert.Equal(t, replay.Finished, last.Status)
		assert.EqualValues(t, 5, last.Version)
	})
}

// Ensure that an append that turns out to be too early does not block other calls until its
// time has come. This matters because a job may check for expiry long before a game
// expires.
func TestDo_UnsettledTooEarly(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		proxy := redistest.StartProxy(t, env.addr)
		s := env.serve(proxy.Addr())
		m := s.begin(name("a"), "classic")
		m.play(t, 2)

		lost := proxy.Lose(1)
		_, err := m.Do(waittest.Context(t), Call{
			Version: m.State().Version, Seat: game.NoSeat, Action: replay.Abandoned{},
			NotBefore: time.Now().Add(time.Hour),
		})
		require.ErrorIs(t, err, store.ErrTooEarly)
		<-lost
		m.play(t, 2)
		env.check(name("a"), s)
	})
}
