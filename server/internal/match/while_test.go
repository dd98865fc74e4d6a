package match

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Ensure that the context that While returns is canceled when the game leaves the version
// (immediately if it already has), when the caller's context is done, and when the caller
// stops it.
func TestWhile(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		s := env.serve(env.addr)
		s.create(name("a"), "classic")
		m := s.match(name("a"))

		past, stop := m.While(t.Context(), 7)
		<-past.Done()
		stop()

		now, stop := m.While(t.Context(), 1)
		m.wake() // a change other than a new version
		require.NoError(t, now.Err())
		m.play(t, 1)
		<-now.Done()
		require.ErrorIs(t, now.Err(), context.Canceled)
		stop()
		stop()

		ctx, cancel := context.WithCancel(t.Context())
		now, stop = m.While(ctx, 2)
		cancel()
		<-now.Done()
		stop()

		now, stop = m.While(t.Context(), 2)
		stop()
		assert.Error(t, now.Err())
	})
}
