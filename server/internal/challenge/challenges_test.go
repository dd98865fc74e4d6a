package challenge_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// env is a Challenges with a store whose clock the test can advance.
type env struct {
	*challenge.Challenges
	t       *testing.T
	store   *store.Store
	forward func(time.Duration)
	// outage and known are returned by Config.Outages. If known is zero, the outage is known to
	// be the last up to now.
	outage store.Span
	known  time.Time
	// admissions counts how often enterNow was asked to admit a player.
	admissions atomic.Int32
}

func (env *env) LastOutage() store.Span { return env.outage }

func (env *env) Outage(context.Context) (store.Span, time.Time, error) {
	known := env.known
	if known.IsZero() {
		known = env.now()
	}
	return env.outage, known, nil
}

func each(t *testing.T, test func(t *testing.T, env *env)) {
	t.Helper()
	storetest.EachClock(t, func(t *testing.T, s *store.Store, forward func(time.Duration)) {
		env := &env{t: t, store: s, forward: forward}
		env.Challenges = env.server()
		test(t, env)
	})
}

// server returns the Challenges of another server that uses the same store.
func (env *env) server() *challenge.Challenges {
	return challenge.New(challenge.Config{
		Store: env.store.Challenges, Log: gamelog.New(env.store.Games), Dailies: []string{"classic", "vt100"},
		Keep: 30 * 24 * time.Hour, Outages: env,
	})
}

// nothing can be passed to Start as its prepare argument.
func nothing(*challenge.Challenge) error { return nil }

// admitted can be passed to Join and Now: it admits every entrant.
func admitted(int) error { return nil }

func (env *env) now() time.Time {
	now, err := env.store.Time(env.t.Context())
	require.NoError(env.t, err)
	return now
}

func player(name string) replay.Player { return replay.Player{ID: id.Derive([]byte(name)), Name: name} }

var ann, bob, eve = player("ann"), player("bob"), player("eve")

// create creates the given challenge, with ann as its creator.
func (env *env) create(c challenge.Challenge) *challenge.Challenge {
	env.t.Helper()
	c.ID, c.Variant, c.Revision = id.New(), "classic", 1
	if c.Creator.ID == "" {
		c.Creator = ann
	}
	if c.Seed.IsZero() {
		c.Seed = game.NewSeed()
	}
	created, err := env.Create(env.t.Context(), c, env.now())
	require.NoError(env.t, err)
	return created
}

// race creates a race of a minute, with ann as its creator.
func (env *env) race() *challenge.Challenge {
	env.t.Helper()
	return env.create(challenge.Challenge{Kind: replay.Race, Limit: time.Minute})
}

// join enters a player into a race.
func (env *env) join(race *challenge.Challenge, p replay.Player) *challenge.Challenge {
	env.t.Helper()
	joined, err := env.Join(env.t.Context(), race.ID, p.ID, challenge.Entrant{Player: p}, admitted)
	require.NoError(env.t, err)
	return joined
}

// start enters bob into a race and starts it.
func (env *env) start(race *challenge.Challenge) *challenge.Challenge {
	env.t.Helper()
	env.join(race, bob)
	started, err := env.Start(env.t.Context(), race.ID, true, nothing)
	require.NoError(env.t, err)
	return started
}

// get returns the challenge with the given id, and its current status.
func (env *env) get(challengeID string) (*challenge.Challenge, challenge.Status) {
	env.t.Helper()
	c, now, err := env.Get(env.t.Context(), challengeID)
	require.NoError(env.t, err)
	return c, c.Status(now)
}

// attempt creates the player's attempt at the challenge.
func (env *env) attempt(c *challenge.Challenge, p replay.Player) gamelog.Tip {
	env.t.Helper()
	streak, err := env.DayStreak(env.t.Context(), c, p.ID)
	require.NoError(env.t, err)
	draft, err := gamelog.NewGame(challenge.AttemptID(c.ID, p.ID), c.Attempt(challenge.Entrant{Player: p}, streak), c.Seed)
	require.NoError(env.t, err)
	return env.append(draft)
}

// resign ends an attempt by resigning, and returns the new tip.
func (env *env) resign(tip gamelog.Tip) gamelog.Tip {
	env.t.Helper()
	draft, err := tip.Draft(replay.Entry{Seat: 0, Action: replay.Resigned{}}, time.Time{}, nil)
	require.NoError(env.t, err)
	return env.append(draft)
}

func (env *env) append(d *gamelog.Draft) gamelog.Tip {
	env.t.Helper()
	require.NoError(env.t, gamelog.New(env.store.Games).Append(env.t.Context(), d))
	return d.Tip()
}

func TestDayStreak(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		for day, want := range []int32{1, 2, 3, 0, 1, 2} {
			c, _, now, err := env.Daily(t.Context(), "classic", "")
			require.NoError(t, err)
			if want > 0 {
				assert.Equal(t, want, env.attempt(c, ann).State.Attempt.DayStreak, "day %d", day)
			}
			env.forward(c.CloseTime.Sub(now))
		}
	})
}
