package challenge_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/challenge"
)

// Ensure that storing the result of an attempt at a race does not read outages, which would send a heartbeat.
func TestOf(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		race := env.start(env.race())
		final := env.resign(env.attempt(race, bob)).State
		env.forward(challenge.Countdown + time.Minute + time.Second)
		other := env.server()
		other.Outages = nil
		of, err := other.Of(t.Context(), final)
		require.NoError(t, err)
		assert.Equal(t, race.CloseTime.Add(other.Keep), of.Expires)
		require.NoError(t, challenge.Record(t.Context(), nil, final, of))
		env.forward(other.Keep)
		of, err = other.Of(t.Context(), final)
		require.NoError(t, err)
		assert.Nil(t, of, "the challenge has expired")
	})
}

// Ensure that a call after the close is refused without an append, which would enqueue a job first, once this server
// knows that the close is final.
func TestWindow_Closed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		for _, c := range []*challenge.Challenge{env.start(env.race()), env.create(challenge.Challenge{Kind: replay.Link})} {
			attempt := env.attempt(c, bob).State
			for _, fresh := range []bool{false, true} {
				from, to, err := env.Window(t.Context(), attempt, fresh)
				require.NoError(t, err)
				assert.Equal(t, []time.Time{c.OpenTime, c.CloseTime}, []time.Time{from, to})
			}
			env.forward(c.CloseTime.Sub(env.now()) + time.Second)
			for _, fresh := range []bool{true, false} {
				_, _, err := env.Window(t.Context(), attempt, fresh)
				require.ErrorIs(t, err, replay.ErrGameOver)
			}
		}
	})
}
