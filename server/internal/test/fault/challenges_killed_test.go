package fault

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/challenge"
	challengev1 "github.com/gridstand/gridstand/server/internal/challenge/v1"
)

// mortal is an env in which a test can kill all servers and Redis at the same time.
type mortal struct {
	*env
	redis   *redistest.Server // nil if the store is a file
	servers *crew
}

// eachMortal runs test on every engine with servers that can be killed: one server backed by a
// file, and two backed by a Redis server that loses no write if it is killed.
func eachMortal(t *testing.T, test func(t *testing.T, m *mortal)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, &mortal{env: newSQLiteEnv(t)})
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		redis := redistest.StartRedis(t, redistest.KeepsWrites...)
		test(t, &mortal{env: newEnv(t, redis.Addr()), redis: redis})
	})
}

// serveAll starts the servers and returns a single name for all of them.
func (m *mortal) serveAll(t *testing.T) *testServer {
	t.Helper()
	n := 1
	if m.redis != nil {
		n = 2
	}
	m.servers = m.startCrew(t, n)
	return behind(m.servers.servers...)
}

// kill kills all servers and then the store.
func (m *mortal) kill(between func()) {
	for _, s := range m.servers.servers {
		s.stop()
	}
	between()
	if m.redis != nil {
		m.redis.Kill()
	}
}

// restart starts the store and all servers.
func (m *mortal) restart() {
	if m.redis != nil {
		m.redis.Restart()
	}
	for n := range m.servers.servers {
		m.servers.restart(n)
	}
}

// wantReason requires that err is a refusal for the given reason.
func wantReason(t *testing.T, reason string, err error) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, reason, refusalOf(err).reason, "%v", err)
}

// Ensure that daily games and links open and close on time even if all servers and the store are
// dead at that moment: no move is accepted before a challenge opens or after it closes, attempts
// end, seeds are revealed, and the outage postpones neither time.
func TestChallenges_AllKilled_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	eachMortal(t, func(t *testing.T, m *mortal) {
		ctx := t.Context()
		everywhere := m.serveAll(t)
		opening := m.plantChallenge(t, replay.Daily, time.Hour, 2*time.Hour)
		closing := []string{m.plantChallenge(t, replay.Daily, 0, time.Hour), m.plantChallenge(t, replay.Link, 0, time.Hour)}
		players := []*caller{m.player(everywhere), m.player(everywhere), m.player(everywhere)}
		games := map[string][]*pb.Event{}
		for _, p := range players {
			_, err := p.attempt(ctx, opening)
			wantReason(t, pb.ReasonChallengeNotOpen, err)
			for _, id := range closing {
				game, err := p.attempt(ctx, id)
				require.NoError(t, err)
				games[id] = append(games[id], p.playTo(t, seeded(t), game, 12))
			}
		}
		_, err := players[0].resign(ctx, games[closing[0]][0].GetGameId())
		require.NoError(t, err)

		// Change the times while the servers are dead, because restarted servers have no times
		// cached. One challenge opens and two close while everything is dead.
		const soon = 50 * time.Millisecond
		m.kill(func() {
			at := time.Now().Add(soon)
			m.alter(t, opening, func(c *challengev1.Challenge) { c.OpenMs = at.UnixMilli() })
			for _, id := range closing {
				m.closeAt(t, id, at, games[id])
			}
		})
		<-time.After(3500 * time.Millisecond) // longer than the shortest outage for which clocks are credited
		m.restart()
		for _, p := range players {
			game, err := p.attempt(ctx, opening)
			require.NoError(t, err)
			games[opening] = append(games[opening], p.playTo(t, seeded(t), game, 8))
		}
		for _, id := range closing {
			m.requireClosed(t, id, players, games[id])
		}
		m.kill(func() { m.closeAt(t, opening, time.Now().Add(soon), games[opening]) })
		<-time.After(2 * soon)
		m.restart()
		m.requireClosed(t, opening, players, games[opening])
	})
}

// closeAt changes a challenge's close time, and schedules its attempts for that time.
func (m *mortal) closeAt(t *testing.T, challengeID string, at time.Time, attempts []*pb.Event) {
	t.Helper()
	m.alter(t, challengeID, func(c *challengev1.Challenge) { c.CloseMs = at.UnixMilli() })
	for _, e := range attempts {
		require.NoError(t, m.ports().Queue.EnqueueBy(t.Context(), e.GetGameId(), at))
	}
}

// requireClosed checks a daily game or a link that closed while everything was dead: no move is
// accepted, the seed is revealed, and the attempts end.
func (m *mortal) requireClosed(t *testing.T, challengeID string, players []*caller, last []*pb.Event) {
	t.Helper()
	for i, e := range last {
		if e.GetResult() == nil {
			_, err := players[i].move(t.Context(), e.GetGameId(), e.GetVersion(), e.GetPosition().GetTwenty48().GetLegalMoves()[0])
			wantReason(t, pb.ReasonGameOver, err)
		}
	}
	for i, e := range last {
		over := players[i].awaitFinished(t, e.GetGameId())
		assert.Equal(t, e.GetPosition().GetScores(), over.GetResult().GetScores())
	}
	closed := players[0].awaitSeed(t.Context(), t, challengeID)
	assert.Nil(t, closed.GetCredited())
	_, err := m.player(players[0].server).attempt(t.Context(), challengeID)
	wantReason(t, pb.ReasonChallengeClosed, err)
	require.Eventually(t, func() bool {
		listed, err := players[0].challenges.ListStandings(t.Context(), &pb.ListStandingsRequest{ChallengeId: challengeID})
		return err == nil && int(listed.GetTotal()) == len(last)
	}, patience, 50*time.Millisecond, "the standings lack results")
}

// Ensure that a race continues if all servers and the store are dead for a while, whether at its
// open_time, at its close_time or in between. The close time is postponed once, by the time lost,
// and for all entrants alike. Before the postponed close time, no move is refused as too late, and
// the seed is not revealed.
func TestRace_AllKilled_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	for name, dead := range map[string][2]time.Duration{ // relative to the open time
		"at its open":  {-2 * time.Second, 3 * time.Second},
		"at its close": {6 * time.Second, 13 * time.Second},
		"in between":   {time.Second, 6 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachMortal(t, func(t *testing.T, m *mortal) { raceThroughOutage(t, m, dead[0], dead[1]) })
		})
	}
}

func raceThroughOutage(t *testing.T, m *mortal, from, to time.Duration) {
	t.Helper()
	ctx := t.Context()
	everywhere := m.serveAll(t)
	racers := []*racer{}
	for range 3 {
		racers = append(racers, &racer{caller: m.player(everywhere), rng: seeded(t), pace: 20 * time.Millisecond})
	}
	race := racers[0].newRace(t)
	for _, r := range racers {
		_, err := r.joinRace(ctx, race.GetId())
		require.NoError(t, err)
		r.raceID, r.gameID = race.GetId(), challenge.AttemptID(race.GetId(), r.id)
		m.observed.attempt(r.gameID)
	}
	race, err := racers[0].startRace(ctx, race.GetId())
	require.NoError(t, err)
	open, closes := race.GetOpenTime().AsTime(), race.GetCloseTime().AsTime()

	over, stop := make(chan struct{}), make(chan error, len(racers))
	for _, r := range racers {
		go func() {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			go func() {
				select {
				case <-over:
					cancel()
				case <-ctx.Done():
				}
			}()
			err := r.run(ctx, func() time.Time { return open.Add(time.Hour) })
			if ctx.Err() != nil && t.Context().Err() == nil {
				err = nil
			}
			stop <- err
		}()
	}
	<-time.After(time.Until(open.Add(from)))
	heartbeat := m.lastHeartbeat(t)
	m.kill(func() {})
	killed := time.Now()
	// Only an outage of at least three seconds is credited, and the kill can be late.
	<-time.After(max(time.Until(open.Add(to)), 3500*time.Millisecond))
	restarting := time.Now()
	m.restart()
	m.awaitHeartbeatAfter(t, restarting)
	back := m.lastHeartbeat(t)

	// Until the seed is revealed, the close time may still change.
	var closed *pb.Challenge
	for {
		got, err := racers[0].getChallenge(ctx, race.GetId())
		require.NoError(t, err)
		closed = got.GetChallenge()
		if len(closed.GetSeed()) > 0 {
			break
		}
		<-time.After(20 * time.Millisecond)
	}
	<-time.After(500 * time.Millisecond)
	close(over)
	for range racers {
		require.NoError(t, <-stop)
	}
	credited := closed.GetCredited().AsDuration()
	assert.Equal(t, open, closed.GetOpenTime().AsTime())
	assert.Equal(t, closes.Add(credited), closed.GetCloseTime().AsTime())
	lost := func(from, to time.Time) time.Duration {
		return to.Sub(slices.MaxFunc([]time.Time{from, open}, time.Time.Compare))
	}
	assert.GreaterOrEqual(t, credited, lost(killed, restarting), "the credited time")
	// The servers may have stopped as early as just after the last known heartbeat. If the machine
	// stalls, they may record further outages.
	recorded, err := m.ports().Heartbeats.Outages(ctx, open)
	require.NoError(t, err)
	most := lost(heartbeat, back)
	for _, o := range recorded {
		if !o.To.After(heartbeat) || !o.From.Before(back) {
			most += lost(o.From, o.To)
		}
	}
	assert.LessOrEqual(t, credited, most, "the credited time")
	for _, r := range racers {
		r.awaitFinished(t, r.gameID)
		assert.Positive(t, r.moves)
		assert.False(t, r.first.Before(open))
		assert.Less(t, r.waited.Sub(open), 100*time.Millisecond)
	}
	t.Logf("dead for %v of the race, credited %v; %d, %d and %d moves", lost(killed, restarting).Round(time.Millisecond), credited, racers[0].moves, racers[1].moves, racers[2].moves)
}
