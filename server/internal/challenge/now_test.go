package challenge_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/challenge"
)

// enterNow enters a player into a race on a server.
func (env *env) enterNow(on *challenge.Challenges, p replay.Player) *challenge.Challenge {
	env.t.Helper()
	c, _, err := on.Now(env.t.Context(), p, draftOf(p), func(int) error { env.admissions.Add(1); return nil })
	require.NoError(env.t, err)
	return c
}

// draftOf returns what Now creates for a player.
func draftOf(p replay.Player) func(challengeID string) challenge.Challenge {
	return func(challengeID string) challenge.Challenge {
		return challenge.Challenge{
			ID: challengeID, Kind: replay.Race, Creator: p, Variant: "classic", Revision: 1, Seed: game.NewSeed(),
			Limit: time.Minute, Entrants: []challenge.Entrant{challenge.StandIn(challengeID, "greedy")},
		}
	}
}

// Ensure that a player gets into the oldest race whose players are present, and stays in no abandoned one.
func TestNow_Oldest(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		left := env.create(challenge.Challenge{Kind: replay.Race, Limit: time.Minute, Creator: bob})
		env.join(left, eve)
		alone := env.create(challenge.Challenge{Kind: replay.Race, Limit: time.Minute, Creator: player("dan")})
		private := env.create(challenge.Challenge{Kind: replay.Race, Limit: time.Minute, Private: true})
		env.forward(20 * time.Second)
		seen := env.race()
		env.forward(25 * time.Second)
		require.NoError(t, env.Seen(t.Context(), seen, env.now()))
		env.race()
		env.forward(10 * time.Second)

		assert.Equal(t, seen.ID, env.enterNow(env.server(), player("dan")).ID, "not %s, which is abandoned", alone.ID)
		got := env.enterNow(env.server(), bob)
		assert.Equal(t, seen.ID, got.ID, "not %s, which is abandoned, or %s", left.ID, private.ID)
		assert.NotZero(t, got.StartTime)
		for _, c := range []*challenge.Challenge{left, private} {
			now, _ := env.get(c.ID)
			assert.True(t, now.Absent(env.now()))
		}
		assert.False(t, got.Absent(env.now()))
		assert.False(t, left.Absent(left.CreateTime.Add(challenge.AbsentAfter)))
		assert.True(t, left.Absent(left.CreateTime.Add(challenge.AbsentAfter+time.Millisecond)))
	})
}

// Ensure that a player who waits alone leaves that race for an older one.
func TestNow_Alone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		entrants := func(c *challenge.Challenge) (names []string) {
			now, _ := env.get(c.ID)
			for _, e := range now.Entrants {
				names = append(names, e.Player.Name)
			}
			return names
		}
		older := env.race() // of ann
		env.forward(time.Second)
		newer := env.create(challenge.Challenge{Kind: replay.Race, Limit: time.Minute, Creator: bob})

		assert.Equal(t, older.ID, env.enterNow(env.server(), ann).ID, "the other race is newer")
		assert.Equal(t, older.ID, env.enterNow(env.server(), bob).ID)
		assert.Equal(t, []string{ann.Name, bob.Name}, entrants(older))
		assert.Empty(t, entrants(newer))
	})
}

// Ensure that a race is absent as soon as its last player leaves it, although a bot remains, until that player
// comes back to it.
func TestNow_Back(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		race := env.enterNow(env.Challenges, ann)
		assert.False(t, race.Absent(env.now()))
		left, err := env.Leave(t.Context(), race.ID, ann.ID, "")
		require.NoError(t, err)
		assert.Len(t, left.Entrants, 1)
		assert.True(t, left.Absent(env.now()))
		back := env.enterNow(env.Challenges, ann)
		assert.Equal(t, race.ID, back.ID, "not one race more for each time")
		assert.False(t, back.Absent(env.now()))
	})
}

// Ensure that a player who waits alone gets into an older race, and no other one, also while the own race
// starts, which then has no player.
func TestNow_Starting(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		older := env.race() // of ann
		env.forward(time.Second)
		alone := env.create(challenge.Challenge{
			Kind: replay.Race, Limit: time.Minute, Creator: bob, Entrants: []challenge.Entrant{{Bot: "greedy", GameID: id.New()}},
		})
		_, err := env.Start(t.Context(), alone.ID, true, func(*challenge.Challenge) error {
			got := env.enterNow(env.server(), bob)
			assert.Equal(t, older.ID, got.ID)
			assert.NotNil(t, got.Entrant(bob.ID))
			return nil
		})
		require.ErrorIs(t, err, challenge.ErrTooFewEntrants)
		left, status := env.get(alone.ID)
		assert.Nil(t, left.Entrant(bob.ID))
		assert.Equal(t, challenge.Waiting, status)
	})
}

// Ensure that a player who waits with others stays in that race while it starts and until it opens, for
// example if the call is repeated, also if this server has created it since it last read the list of races.
func TestNow_AboutToOpen(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		older := env.enterNow(env.Challenges, ann) // It reads the list of races.
		env.forward(time.Second)
		own := env.create(challenge.Challenge{Kind: replay.Race, Limit: time.Minute, Creator: bob})
		env.join(own, eve)
		stays := func() {
			t.Helper()
			for _, on := range []*challenge.Challenges{env.Challenges, env.server()} {
				got := env.enterNow(on, eve)
				require.Equal(t, own.ID, got.ID)
				assert.Len(t, got.Entrants, 2)
			}
		}
		_, err := env.Start(t.Context(), own.ID, true, func(*challenge.Challenge) error {
			stays()
			return nil
		})
		require.NoError(t, err)
		stays()
		env.forward(challenge.Countdown + time.Second)
		assert.Equal(t, older.ID, env.enterNow(env.server(), eve).ID, "the race has opened")
	})
}

// Ensure that players who call at the same time fill a race one by one, and that a player also stays in a
// race without a free place that another server has just created, so that the list of races may lack it.
func TestNow_Full(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		other := env.server()
		started := env.enterNow(other, eve)
		env.enterNow(other, bob)
		_, err := other.Start(t.Context(), started.ID, true, nothing)
		require.NoError(t, err)
		env.enterNow(other, eve) // It reads the list.

		full := env.enterNow(env.Challenges, ann)
		env.admissions.Store(0)
		var group sync.WaitGroup
		for i := range challenge.MaxEntrants - 1 {
			group.Go(func() { env.enterNow(env.Challenges, player(fmt.Sprint("p", i))) })
		}
		group.Wait()
		assert.EqualValues(t, challenge.MaxEntrants-1, env.admissions.Load(), "the calls take turns, so none has to try again")
		full, _ = env.get(full.ID)
		require.Len(t, full.Entrants, challenge.MaxEntrants)
		for range 2 {
			assert.Equal(t, full.ID, env.enterNow(other, ann).ID)
		}
		_, err = env.Start(t.Context(), full.ID, true, nothing)
		require.NoError(t, err)
		for range 2 {
			assert.Equal(t, full.ID, env.enterNow(other, ann).ID)
		}
	})
}

// Ensure that players meet whom different servers serve, although a server has not listed the other's race
// yet, also if they call in two periods for which ids are derived.
func TestNow_OtherServer(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		there := env.server()
		env.enterNow(there, eve)
		env.enterNow(there, eve) // It reads the list.
		const period = 15 * time.Second
		env.forward(4*period - time.Duration(env.now().UnixNano())%period - time.Second)
		race := env.enterNow(env.Challenges, ann)
		assert.Equal(t, race.ID, env.enterNow(there, bob).ID)
		env.forward(2 * time.Second)
		assert.Equal(t, race.ID, env.enterNow(there, player("dan")).ID)
	})
}

// Ensure that a player enters the race that another server has created a moment before.
func TestNow_Faster(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		other := env.server()
		got, _, err := env.Now(t.Context(), bob, func(challengeID string) challenge.Challenge {
			assert.Equal(t, challengeID, env.enterNow(other, eve).ID)
			return draftOf(bob)(challengeID)
		}, admitted)
		require.NoError(t, err)
		assert.NotNil(t, got.Entrant(bob.ID))
		assert.NotNil(t, got.Entrant(eve.ID))
	})
}
