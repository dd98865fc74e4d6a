package challenge_test

import (
	"context"
	"sync"
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

// world is a Challenges with a store whose clock the test can advance.
type world struct {
	*challenge.Challenges
	t       *testing.T
	store   *store.Store
	forward func(time.Duration)
	// outages and known are returned by Config.Outages. If known is zero, outages are known
	// up to now.
	outages []store.Span
	known   time.Time
}

func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	storetest.EachClock(t, func(t *testing.T, s *store.Store, forward func(time.Duration)) {
		w := &world{t: t, store: s, forward: forward}
		w.Challenges = w.server()
		test(t, w)
	})
}

// server returns the Challenges of another server that uses the same store.
func (w *world) server() *challenge.Challenges {
	return challenge.New(challenge.Config{
		Store: w.store.Challenges, Log: gamelog.New(w.store.Games), Dailies: []string{"classic", "vt100"},
		Keep: 30 * 24 * time.Hour, WaitingFor: time.Hour,
		Outages: func(context.Context, time.Time) ([]store.Span, time.Time, error) {
			known := w.known
			if known.IsZero() {
				known = w.now()
			}
			return w.outages, known, nil
		},
	})
}

// nothing can be passed to Start as its may or prepare argument: it allows the start and
// prepares nothing.
func nothing(*challenge.Challenge) error { return nil }

func (w *world) now() time.Time {
	now, err := w.store.Time(w.t.Context())
	require.NoError(w.t, err)
	return now
}

func player(name string) replay.Player { return replay.Player{ID: id.Derive([]byte(name)), Name: name} }

var ann, bob, eve = player("ann"), player("bob"), player("eve")

// create creates the given challenge, with ann as its creator.
func (w *world) create(c challenge.Challenge) *challenge.Challenge {
	w.t.Helper()
	c.ID, c.Variant, c.Revision, c.Creator = id.New(), "classic", 1, ann
	if c.Seed.IsZero() {
		c.Seed = game.NewSeed()
	}
	created, err := w.Create(w.t.Context(), c, w.now())
	require.NoError(w.t, err)
	return created
}

// get returns the challenge with the given id, and its current status.
func (w *world) get(challengeID string) (*challenge.Challenge, challenge.Status) {
	w.t.Helper()
	c, now, err := w.Get(w.t.Context(), challengeID)
	require.NoError(w.t, err)
	return c, c.Status(now)
}

// attempt creates the player's attempt at the challenge.
func (w *world) attempt(c *challenge.Challenge, p replay.Player) gamelog.Tip {
	w.t.Helper()
	streak, err := w.DayStreak(w.t.Context(), c, p.ID)
	require.NoError(w.t, err)
	draft, err := gamelog.NewGame(challenge.AttemptID(c.ID, p.ID), c.Attempt(challenge.Entrant{Player: p}, streak), c.Seed)
	require.NoError(w.t, err)
	return w.append(draft)
}

// resign ends an attempt by resigning, and returns the new tip.
func (w *world) resign(tip gamelog.Tip) gamelog.Tip {
	w.t.Helper()
	draft, err := tip.Draft(replay.Entry{Seat: 0, Action: replay.Resigned{}}, time.Time{}, nil)
	require.NoError(w.t, err)
	return w.append(draft)
}

func (w *world) append(d *gamelog.Draft) gamelog.Tip {
	w.t.Helper()
	appended, err := gamelog.New(w.store.Games).Append(w.t.Context(), d)
	require.NoError(w.t, err)
	return appended.Tip
}

// Ensure that all servers share one daily game per day, that its seed is drawn the day
// before, and that no daily games are created for past or distant days.
func TestDaily(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		var mu sync.Mutex
		seeds := map[[game.SeedSize]byte]bool{}
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				c, next, _, err := w.server().Daily(ctx, "", "")
				if assert.NoError(t, err) {
					mu.Lock()
					defer mu.Unlock()
					seeds[c.Seed.Commitment()], seeds[next.Seed.Commitment()] = true, true
				}
			})
		}
		group.Wait()
		assert.Len(t, seeds, 2)

		today, tomorrow, now, err := w.Daily(ctx, "classic", "")
		require.NoError(t, err)
		assert.Equal(t, challenge.Open, today.Status(now))
		assert.Equal(t, challenge.Scheduled, tomorrow.Status(now))
		assert.Equal(t, now.Format(time.DateOnly), today.Date)
		assert.Equal(t, today.CloseTime, tomorrow.OpenTime)
		assert.True(t, today.Revealed(now).IsZero())

		w.forward(tomorrow.OpenTime.Sub(now) + time.Second)
		same, _, now, err := w.Daily(ctx, "classic", "")
		require.NoError(t, err)
		assert.Equal(t, tomorrow.ID, same.ID)
		assert.Equal(t, tomorrow.Seed.Commitment(), same.Seed.Commitment())
		assert.Equal(t, challenge.Open, same.Status(now))
		closed, _, _, err := w.Daily(ctx, "classic", today.Date)
		require.NoError(t, err)
		assert.Equal(t, closed.Seed.Commitment(), closed.Revealed(now).Commitment())

		for _, date := range []string{"2020-01-01", now.AddDate(0, 0, 2).Format(time.DateOnly), "today", "2026-02-30"} {
			_, _, _, err := w.Daily(ctx, "classic", date)
			assert.ErrorIs(t, err, challenge.ErrNoDay, date)
		}
		_, _, _, err = w.Daily(ctx, "threes", "")
		assert.ErrorIs(t, err, challenge.ErrNoDaily)
	})
}

func TestDayStreak(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		for day, want := range []int32{1, 2, 3, 0, 1, 2} {
			c, _, now, err := w.Daily(t.Context(), "classic", "")
			require.NoError(t, err)
			if want > 0 {
				assert.Equal(t, want, w.attempt(c, ann).State.Attempt.DayStreak, "day %d", day)
			}
			w.forward(c.CloseTime.Sub(now))
		}
	})
}
