package challenge_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
	"github.com/gridstand/gridstand/server/internal/page"
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

// Ensure that Identical finds all attempts that share their first 100 moves, and no others.
func TestIdentical(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		ctx := t.Context()
		boards := leaderboard.New(env.store.Boards, page.NewTokens(env.store.Secrets), env.store.Time)
		seed, err := game.SeedFromBytes(bytes.Repeat([]byte{1}, game.SeedSize))
		require.NoError(t, err)
		c := env.create(challenge.Challenge{Kind: replay.Link, Seed: seed})
		// play makes n moves, each the first legal one, except that the move with the index
		// differs is the second legal one.
		play := func(name string, n, differs int) string {
			tip := env.attempt(c, player(name))
			for i := range n {
				legal := tip.State.LegalMoves()
				m := legal[0]
				if i == differs {
					m = legal[1]
				}
				draft, err := tip.Draft(replay.Entry{Seat: 0, Action: replay.Moved{Move: m}}, time.Time{}, nil)
				require.NoError(t, err)
				tip = env.append(draft)
			}
			final := env.resign(tip).State
			require.NoError(t, challenge.Record(ctx, boards, final, c))
			return final.ID
		}
		same := []string{play("one", 101, -1), play("two", 100, -1)}
		slices.Sort(same)
		play("three", 110, 60)
		play("four", 99, -1)
		found, err := env.Identical(ctx, boards, c.ID)
		require.NoError(t, err)
		assert.Equal(t, [][]string{same}, found)
		_, err = env.Identical(ctx, boards, id.New())
		assert.ErrorIs(t, err, challenge.ErrNotFound)
	})
}
