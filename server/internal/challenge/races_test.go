package challenge_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Ensure that the countdown begins only after prepare has returned, however long that
// takes.
func TestRace_SlowStart(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		race := env.race()
		env.join(race, bob)
		prepared := time.Time{}
		race, err := env.Start(t.Context(), race.ID, true, func(*challenge.Challenge) error {
			env.forward(time.Minute)
			prepared = env.now()
			return nil
		})
		require.NoError(t, err)
		assert.False(t, race.OpenTime.Before(prepared.Truncate(time.Millisecond).Add(challenge.Countdown)))
		assert.Equal(t, race.OpenTime.Add(time.Minute), race.CloseTime)
	})
}

// Ensure that everything is prepared for each entrant of a race before it starts, also for players who join during the
// preparation, that a player who joins and leaves repeatedly, or changes readiness, does not delay the start, and that
// two servers that start a race at once open it once.
func TestRace_JoinsWhileItStarts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		ctx, other := t.Context(), env.server()
		race := env.race()
		env.join(race, bob)
		var prepared [][]string
		prepare := func(c *challenge.Challenge) error {
			prepared = append(prepared, c.GameIDs())
			require.LessOrEqual(t, len(prepared), 2, "eve delays the start")
			env.join(race, eve)
			_, err := other.Join(ctx, race.ID, bob.ID, challenge.Entrant{Player: bob, Ready: len(prepared) == 1}, admitted)
			require.NoError(t, err)
			for range len(prepared) - 1 {
				_, err = other.Leave(ctx, race.ID, eve.ID, "")
				require.NoError(t, err)
				env.join(race, eve)
			}
			return nil
		}
		started, err := env.Start(ctx, race.ID, true, prepare)
		require.NoError(t, err)
		ids := started.GameIDs()
		assert.Len(t, ids, 3)
		assert.Equal(t, [][]string{ids[:2], ids}, prepared)
		_, err = other.Leave(ctx, race.ID, eve.ID, "")
		require.ErrorIs(t, err, challenge.ErrStarted)

		race = env.race()
		env.join(race, bob)
		var first *challenge.Challenge
		second, err := env.Start(ctx, race.ID, true, func(*challenge.Challenge) error {
			first, err = other.Start(ctx, race.ID, true, nothing)
			env.forward(time.Second)
			return err
		})
		require.NoError(t, err)
		assert.Equal(t, first.OpenTime, second.OpenTime)
	})
}

// Ensure that a race whose start has failed, or whose server died while it started it, is still joined, left and
// started as before, at once.
func TestRace_FailedStart(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		race := env.race()
		env.join(race, bob)
		failure := errors.New("the store does not answer")
		_, err := env.Start(t.Context(), race.ID, true, func(*challenge.Challenge) error { return failure })
		require.ErrorIs(t, err, failure)
		assert.Len(t, env.join(race, eve).Entrants, 3)
		left, err := env.Leave(t.Context(), race.ID, bob.ID, "")
		require.NoError(t, err)
		assert.Len(t, left.Entrants, 2)
		started, err := env.server().Start(t.Context(), race.ID, true, nothing)
		require.NoError(t, err)
		assert.NotZero(t, started.OpenTime)
	})
}

// Ensure that each outage postpones the close of a race once, by the time that it was open, and
// that the seed stays hidden until the close is final.
func TestRace_Outage(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		race := env.start(env.race())
		at := func(s int) time.Time { return race.OpenTime.Add(time.Duration(s) * time.Second) }
		env.forward(challenge.Countdown + time.Minute + time.Second)

		env.known = at(50)
		c, _ := env.get(race.ID)
		assert.True(t, c.Revealed(env.now()).IsZero(), "an outage may still postpone the close")

		// The third outage began in the time credited for the second, and the fourth continues it.
		for _, tt := range []struct{ from, to, credited int }{{-10, -5, 0}, {-5, 15, 15}, {70, 90, 35}, {70, 100, 45}} {
			env.outage = store.Span{From: at(tt.from), To: at(tt.to)}
			for range 3 {
				c, _ := env.get(race.ID)
				assert.Equal(t, time.Duration(tt.credited)*time.Second, c.Credited)
				assert.Equal(t, at(60+tt.credited), c.CloseTime)
			}
		}
		_, status := env.get(race.ID)
		assert.Equal(t, challenge.Open, status)
		env.known = time.Time{}
		env.forward(time.Minute)
		env.outage = store.Span{From: at(105), To: at(110)}
		for _, s := range []*challenge.Challenges{env.Challenges, env.server(), env.server()} {
			c, now, err := s.Get(t.Context(), race.ID)
			require.NoError(t, err)
			assert.Equal(t, at(105), c.CloseTime)
			assert.Equal(t, challenge.Closed, c.Status(now))
			assert.Equal(t, race.Seed.Commitment(), c.Revealed(now).Commitment())
			env.outage = store.Span{From: at(70), To: at(140)} // It began after the close, and continues the last one.
		}
		env.forward(-time.Minute)
		_, status = env.get(race.ID)
		assert.Equal(t, challenge.Closed, status, "the clock was set back")
	})
}

// slow is a store of challenges in which before is called before the second read.
type slow struct {
	store.Challenges
	before func()
	reads  int
}

func (s *slow) Get(ctx context.Context, ids ...string) (map[string]store.Challenge, time.Time, error) {
	if s.reads++; s.reads == 2 {
		s.before()
	}
	return s.Challenges.Get(ctx, ids...)
}

// Ensure that a server does not end a race whose close another server has postponed, because it does not
// know the outages before the new close.
func TestRace_Outage_Slow(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		race := env.start(env.race())
		at := func(s int) time.Time { return race.OpenTime.Add(time.Duration(s) * time.Second) }
		outage := func(to int) { env.outage = store.Span{From: at(20), To: at(to)} }
		env.forward(challenge.Countdown + 50*time.Second)
		outage(30)
		c, _ := env.get(race.ID)
		require.Equal(t, at(70), c.CloseTime)
		env.forward(21 * time.Second)
		paused := env.server()
		paused.Store = &slow{Challenges: paused.Store, before: func() {
			env.forward(20 * time.Second)
			outage(90)
			c, _ := env.get(race.ID)
			require.Equal(t, at(130), c.CloseTime)
			env.forward(50 * time.Second)
			outage(140)
		}}
		_, _, err := paused.Get(t.Context(), race.ID)
		require.NoError(t, err)
		c, _ = env.get(race.ID)
		assert.Equal(t, at(180), c.CloseTime)
	})
}

// Ensure that a race that follows another one is kept for longer than that one, and any other as long as
// it may wait.
func TestRace_Outlive(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		previous := env.start(env.race())
		next := challenge.Challenge{Kind: replay.Race, Limit: time.Minute}
		next.Expires = previous.Expires
		following, other := env.create(next), env.race()
		kept := func(c *challenge.Challenge) bool {
			_, _, err := env.Get(t.Context(), c.ID)
			if err != nil {
				require.ErrorIs(t, err, challenge.ErrNotFound)
			}
			return err == nil
		}
		assert.True(t, kept(other))
		env.forward(challenge.WaitsFor)
		assert.False(t, kept(other))
		assert.True(t, kept(previous))
		env.forward(env.Keep)
		assert.False(t, kept(previous))
		assert.True(t, kept(following))
		env.forward(challenge.WaitsFor)
		assert.False(t, kept(following))
	})
}

// counting is a store of challenges that counts reads.
type counting struct {
	store.Challenges
	reads int
}

func (c *counting) Get(ctx context.Context, ids ...string) (map[string]store.Challenge, time.Time, error) {
	c.reads++
	return c.Challenges.Get(ctx, ids...)
}

// Ensure that GetAll returns the same races as Get if outages have postponed or may
// postpone their close, and that it reads a record again only to change it.
func TestRace_GetAll(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		over := env.start(env.race())
		env.forward(2 * time.Minute)
		env.get(over.ID) // stores that it is over
		postponed, waiting := env.start(env.race()), env.race()
		env.forward(challenge.Countdown + time.Minute)
		opened := postponed.OpenTime
		for _, tt := range []struct {
			name   string
			outage store.Span
			known  time.Time
			want   challenge.Status
			reads  int
		}{
			{"an outage may still be found", store.Span{}, opened.Add(time.Second), challenge.Closed, 1},
			{"an outage was found", store.Span{From: opened.Add(time.Second), To: opened.Add(31 * time.Second)}, time.Time{}, challenge.Open, 2},
			{"it has been credited", store.Span{From: opened.Add(time.Second), To: opened.Add(31 * time.Second)}, time.Time{}, challenge.Open, 1},
		} {
			env.outage, env.known = tt.outage, tt.known
			reader := env.server()
			counted := &counting{Challenges: reader.Store}
			reader.Store = counted
			all, now, err := reader.GetAll(t.Context(), over.ID, id.New(), postponed.ID, waiting.ID)
			require.NoError(t, err)
			require.Len(t, all, 3, tt.name)
			assert.Equal(t, tt.reads, counted.reads, tt.name)
			for i, want := range []challenge.Status{challenge.Closed, tt.want, challenge.Waiting} {
				one, status := env.get(all[i].ID)
				assert.Equal(t, want, status, tt.name)
				assert.Equal(t, want, all[i].Status(now), tt.name)
				assert.Equal(t, one.CloseTime, all[i].CloseTime, tt.name)
			}
			assert.True(t, all[0].Final(), tt.name)
			assert.False(t, all[1].Final(), tt.name)
		}
	})
}

// Ensure that a race closes permanently as soon as all attempts are over, even if two servers
// record the last results at the same time, and that outages no longer postpone the close.
func TestRace_CloseIfOver(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		ctx := t.Context()
		race := env.race()
		left := env.attempt(race, eve) // eve left the roster before the start
		anns := env.attempt(race, ann)
		race = env.start(race)
		env.forward(challenge.Countdown + time.Second)
		stays := func(why string, over *replay.State) {
			t.Helper()
			require.NoError(t, env.CloseIfOver(ctx, over))
			c, status := env.get(race.ID)
			assert.Equal(t, challenge.Open, status, why)
			assert.Equal(t, race.CloseTime, c.CloseTime, why)
		}
		stays("an entrant has no game", env.resign(anns).State)
		bobs := env.attempt(race, bob)
		stays("an entrant is playing", env.resign(left).State)
		last := env.resign(bobs).State

		// The server that appended the last event dies here, and others record the result.
		before := env.now()
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() { assert.NoError(t, env.server().CloseIfOver(ctx, last)) })
		}
		group.Wait()
		env.forward(time.Millisecond)
		for _, s := range []*challenge.Challenges{env.Challenges, env.server()} {
			c, now, err := s.Get(ctx, race.ID)
			require.NoError(t, err)
			assert.Equal(t, challenge.Closed, c.Status(now))
			assert.True(t, c.CloseTime.After(last.UpdateTime), "no event at or after the close")
			assert.WithinRange(t, c.CloseTime, before.Truncate(time.Millisecond), now)
			assert.Equal(t, race.Seed.Commitment(), c.Revealed(now).Commitment())
			race = c
		}
		env.outage = store.Span{From: race.OpenTime, To: race.OpenTime.Add(time.Hour)}
		env.forward(time.Second)
		require.NoError(t, env.server().CloseIfOver(ctx, last))
		c, now, err := env.server().Get(ctx, race.ID)
		require.NoError(t, err)
		assert.Equal(t, race.CloseTime, c.CloseTime)
		assert.Equal(t, challenge.Closed, c.Status(now))
		assert.Zero(t, c.Credited)
		env.forward(31 * 24 * time.Hour)
		require.NoError(t, env.server().CloseIfOver(ctx, last), "the race has expired")
	})
}

// Ensure that those who stay in a race can choose its bots and start it after its creator has left, and
// nobody else can.
func TestRace_Hosts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		ctx := t.Context()
		race := env.race()
		env.join(race, bob)
		left, err := env.Leave(ctx, race.ID, ann.ID, "")
		require.NoError(t, err)
		for _, p := range []replay.Player{ann, bob, eve} {
			assert.Equal(t, p != eve, left.Hosts(p.ID), p.Name)
		}
		bot := challenge.Entrant{Bot: "greedy", GameID: id.New()}
		_, err = env.Join(ctx, race.ID, eve.ID, bot, admitted)
		require.ErrorIs(t, err, challenge.ErrNotCreator)
		_, err = env.Join(ctx, race.ID, bob.ID, bot, admitted)
		require.NoError(t, err)
		removed, err := env.Leave(ctx, race.ID, bob.ID, bot.GameID)
		require.NoError(t, err)
		assert.Len(t, removed.Entrants, 1)
		assert.Equal(t, ann, race.Attempt(bot, 0).Creator)
		assert.Equal(t, eve, race.Attempt(challenge.Entrant{Player: eve}, 0).Creator)
		env.join(race, ann)
		_, err = env.Join(ctx, race.ID, bob.ID, bot, admitted)
		require.ErrorIs(t, err, challenge.ErrNotCreator)
	})
}

// Ensure that a player can join a race that is full with the bot that stands in for others, and no other race
// that is full.
func TestJoin_Full(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		race := env.enterNow(env.Challenges, ann)
		for len(race.Entrants) < challenge.MaxEntrants {
			joined, err := env.Join(t.Context(), race.ID, ann.ID, challenge.Entrant{Bot: "greedy", GameID: id.New()}, admitted)
			require.NoError(t, err)
			race = joined
		}
		full := env.join(race, bob)
		assert.Len(t, full.Entrants, challenge.MaxEntrants)
		assert.False(t, full.Has(challenge.StandIn(race.ID, "").GameID))
		for by, e := range map[string]challenge.Entrant{eve.ID: {Player: eve}, ann.ID: {Bot: "greedy", GameID: id.New()}} {
			_, err := env.Join(t.Context(), race.ID, by, e, admitted)
			require.ErrorIs(t, err, challenge.ErrFull)
		}
	})
}
