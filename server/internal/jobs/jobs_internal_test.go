package jobs

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
	"github.com/gridstand/gridstand/server/internal/liveness"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/profile"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// newManager returns a Manager that uses a store. Its jobs are in the given queue.
func newManager(s *store.Store, jobs store.Queue) *Manager {
	logger, tokens, log := slog.New(slog.DiscardHandler), page.NewTokens(s.Secrets), gamelog.New(s.Games)
	challenges := challenge.New(challenge.Config{Store: s.Challenges, Log: log, Keep: time.Hour, Outages: new(liveness.Monitor)})
	return New(Config{Stores: liveness.Stores{
		Engine: s, Log: log, Leaderboard: leaderboard.New(s.Boards, tokens, s.Time),
		Directory: directory.New(s.Lists, s.Lists, tokens, 0, logger), Challenges: challenges,
		Profiles: &profile.Profiles{Store: s.Profiles, Challenges: challenges}, Queue: jobs, Monitor: new(liveness.Monitor),
		Logger: logger, KeepFinished: time.Hour,
	}})
}

// newHub returns the hub of a server whose jobs the Manager does.
func newHub(m *Manager, s *store.Store, serverID string) *match.Hub {
	return match.NewHub(match.Config{
		Log: m.Log, Feed: s.Feed, Window: m.Challenges.Window, Jobs: m, Delivered: func(int) {}, ServerID: serverID, Idle: time.Hour,
	})
}

// begin creates a game, and returns it as the hub serves it until the test ends.
func begin(t *testing.T, m *Manager, hub *match.Hub, gameID string, created replay.Created, seed game.Seed) *match.Match {
	t.Helper()
	created.Commitment = seed.Commitment()
	_, err := hub.Create(t.Context(), gameID, created, seed, time.Time{})
	require.NoError(t, err)
	served, err := hub.Acquire(t.Context(), gameID)
	require.NoError(t, err)
	t.Cleanup(served.Release)
	return served
}

// Ensure that a game that is in quarantine, which nothing can repair, is not processed again, unlike one
// whose log may be restored.
func TestManager_Damaged(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx, m := t.Context(), newManager(s, s.Queue)
		hub := newHub(m, s, "here")
		quarantined, lost := newWaiting(t, m, hub).State().ID, id.New()
		tail, err := s.Games.Tail(ctx, quarantined)
		require.NoError(t, err)
		require.NoError(t, s.Games.Quarantine(ctx, quarantined, tail.Last, time.Hour))
		head := store.DumpedHead{GameID: lost, Last: tail.Last} // of a log that is gone
		require.NoError(t, s.Dumper.Restore(ctx, []store.Item{{Head: &head}}))
		for gameID, done := range map[string]bool{quarantined: true, lost: false} {
			next, err := m.process(ctx, hub, store.Job{GameID: gameID, Leased: time.Now(), Expires: time.Now()})
			require.NoError(t, err)
			assert.Equal(t, done, next.IsZero())
		}
	})
}

// Ensure that the jobs of the attempts at a race are processed when it opens, or little later if its server dies
// before it has scheduled them for that time, that an attempt is processed only rarely while its race waits, and soon
// again while a server of an earlier version starts that. An attempt is on its player's list although the call that
// began it failed before that.
func TestManager_Starting(t *testing.T) {
	t.Parallel()
	storetest.EachClock(t, func(t *testing.T, s *store.Store, forward func(time.Duration)) {
		ctx, m := t.Context(), newManager(s, s.Queue)
		hub := newHub(m, s, "here")
		now, err := s.Time(ctx)
		require.NoError(t, err)
		raceID, ann := id.New(), replay.Player{ID: id.New(), Name: "ann"}
		race, err := m.Challenges.Create(ctx, challenge.Challenge{
			ID: raceID, Kind: replay.Race, Variant: "classic", Creator: ann, Limit: time.Minute,
			Entrants: []challenge.Entrant{challenge.StandIn(raceID, "greedy")},
		}, now)
		require.NoError(t, err)
		own := race.Entrants[0]
		prepare := func(c *challenge.Challenge) error {
			_, err := hub.Create(ctx, own.GameID, c.Attempt(own, 0), c.Seed, time.Time{})
			return err
		}
		require.NoError(t, prepare(race))
		// next returns when the attempt is processed next if it is processed at the given time.
		next := func(now time.Time) time.Time {
			at, err := m.process(ctx, hub, store.Job{GameID: own.GameID, Leased: now, Expires: now})
			require.NoError(t, err)
			return at.UTC()
		}
		of := store.List{PlayerID: ann.ID}
		require.NoError(t, s.Lists.Forget(ctx, of, own.GameID))
		assert.False(t, next(now).Before(now.Add(waitingAttemptEvery)))
		places, err := s.Lists.Page(ctx, of, store.Place{}, 2)
		require.NoError(t, err)
		assert.Len(t, places, 1)

		forward(time.Minute)
		require.Equal(t, 1, processes(t, s, m, hub))
		due := func() time.Time {
			at, err := s.Queue.Scheduled(ctx, own.GameID)
			require.NoError(t, err)
			return at.UTC()
		}
		require.True(t, due().After(now.Add(waitingAttemptEvery)))
		started, err := m.Challenges.Start(ctx, raceID, true, prepare)
		require.NoError(t, err)
		opens := started.OpenTime
		assert.WithinRange(t, due(), opens, opens.Add(leaseFor-challenge.Countdown))
		leased, err := s.Queue.Lease(ctx, 1, leaseFor)
		require.NoError(t, err)
		assert.Empty(t, leased, "the job is held")

		// Another server has found the race waiting, and its lease ends before the opening.
		require.NoError(t, s.Queue.EnqueueBy(ctx, store.AtOnce, own.GameID))
		leased, err = s.Queue.Lease(ctx, 1, challenge.Countdown/2)
		require.NoError(t, err)
		require.Len(t, leased, 1)
		require.NoError(t, m.Opens(ctx, own.GameID))
		require.NoError(t, s.Queue.Ack(ctx, leased[0], now.Add(waitingAttemptEvery)))
		require.Equal(t, 1, processes(t, s, m, hub))
		assert.Equal(t, opens, due())
	})
}

// Ensure that a player who keeps resigning after the own time limit of an attempt, which the store refuses, does
// not postpone the job that ends it.
func TestManager_TooLate(t *testing.T) {
	t.Parallel()
	storetest.EachClock(t, func(t *testing.T, s *store.Store, forward func(time.Duration)) {
		ctx, m := t.Context(), newManager(s, s.Queue)
		hub := newHub(m, s, "here")
		now, err := s.Time(ctx)
		require.NoError(t, err)
		ann := replay.Player{ID: id.New(), Name: "ann"}
		c, err := m.Challenges.Create(ctx, challenge.Challenge{
			ID: id.New(), Kind: replay.Link, Variant: "classic", Creator: ann, Limit: time.Minute,
		}, now)
		require.NoError(t, err)
		own := challenge.Entrant{Player: ann, GameID: challenge.AttemptID(c.ID, ann.ID)}
		served := begin(t, m, hub, own.GameID, c.Attempt(own, 0), c.Seed)

		forward(2 * c.Limit)
		for range 2 {
			_, err = served.Do(ctx, match.Call{PlayerID: ann.ID, Seat: game.NoSeat, Action: replay.Resigned{}})
			require.ErrorIs(t, err, replay.ErrGameOver)
		}
		require.Equal(t, 1, processes(t, s, m, hub))
		assert.Equal(t, replay.Finished, served.State().Status)
	})
}
