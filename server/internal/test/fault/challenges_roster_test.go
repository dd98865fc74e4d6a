package fault

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/challenge"
	challengev1 "github.com/gridstand/gridstand/server/internal/challenge/v1"
)

// leaveRace removes the caller from a race's roster.
func (c *caller) leaveRace(ctx context.Context, raceID string) error {
	return c.untilAnswered(ctx, func(ctx context.Context) error {
		_, err := c.challenges.LeaveChallenge(c.authorized(ctx), &pb.LeaveChallengeRequest{ChallengeId: raceID})
		return err
	})
}

// Ensure that if 50 players concurrently make 20 calls each to join a race, through three servers,
// exactly as many players get in as the race has places, and that each entrant has a game.
func TestRoster_Full_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	onRedis(t, func(t *testing.T, env *env) {
		servers := []*testServer{env.serve(), env.serve(), env.serve()}
		const (
			players = 50
			calls   = 20 // per player
		)
		host := env.player(servers[0])
		race := host.newRace(t)
		env.alter(t, race.GetId(), func(m *challengev1.Challenge) { m.LimitMs = 500 })
		var joined, full atomic.Int64
		var group errgroup.Group
		for n := range players {
			p := env.player(servers[n%len(servers)])
			env.observed.attempt(challenge.AttemptID(race.GetId(), p.id))
			places := []*caller{p, p.on(servers[(n+1)%len(servers)]), p.on(servers[(n+2)%len(servers)])}
			var in atomic.Bool
			for i := range calls {
				group.Go(func() error {
					_, err := places[i%len(places)].joinRace(t.Context(), race.GetId())
					switch {
					case err == nil && !in.Swap(true):
						joined.Add(1)
					case err != nil && refusalOf(err).reason != pb.ReasonChallengeFull:
						return err
					case err != nil:
						full.Add(1)
					}
					return nil
				})
			}
		}
		require.NoError(t, group.Wait())
		assert.EqualValues(t, challenge.MaxEntrants-1, joined.Load())
		got, err := host.getChallenge(t.Context(), race.GetId())
		require.NoError(t, err)
		require.Len(t, got.GetChallenge().GetEntrants(), challenge.MaxEntrants)
		for _, e := range got.GetChallenge().GetEntrants() {
			assert.Positive(t, env.length(t, e.GetGameId()), "an entrant without a game")
		}
		t.Logf("%d got a place; %d calls were refused", joined.Load(), full.Load())
		_, err = host.startRace(t.Context(), race.GetId())
		require.NoError(t, err)
		for _, e := range got.GetChallenge().GetEntrants() {
			host.awaitAttempt(t, e.GetGameId())
		}
	})
}

// awaitAttempt is like awaitFinished, but for an attempt at a race that may not be open yet.
func (c *caller) awaitAttempt(t *testing.T, gameID string) {
	t.Helper()
	require.Eventually(t, func() bool {
		g, err := c.get(t.Context(), gameID)
		return err == nil && g.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED
	}, patience, 50*time.Millisecond, "the attempt does not end")
}

// Ensure that exactly the players who are on the roster when a race starts have a game and can
// play, even though players join and leave concurrently through two servers.
func TestRoster_Start_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	onRedis(t, func(t *testing.T, env *env) {
		servers := []*testServer{env.serve(), env.serve()}
		t.Run("races", func(t *testing.T) {
			for n := range 4 {
				t.Run(strconv.Itoa(n), func(t *testing.T) {
					t.Parallel()
					startWhileOthersLeave(t, env, servers, uint64(n))
				})
			}
		})
	})
}

func startWhileOthersLeave(t *testing.T, env *env, servers []*testServer, seed uint64) {
	t.Helper()
	ctx := t.Context()
	host := env.player(servers[0])
	race := host.newRace(t)
	gameOf := func(p *caller) string { return challenge.AttemptID(race.GetId(), p.id) }
	others := make([]*caller, challenge.MaxEntrants-1)
	for i := range others {
		others[i] = env.player(servers[i%2])
		env.observed.attempt(gameOf(others[i]))
		_, err := others[i].joinRace(ctx, race.GetId())
		require.NoError(t, err)
	}
	var group errgroup.Group
	for i, p := range others {
		both := []*caller{p.on(servers[0]), p.on(servers[1])}
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		group.Go(func() error {
			for n := i; ; n++ { // All players have joined by now, so each leaves first.
				c := both[rng.IntN(2)]
				err := c.leaveRace(ctx, race.GetId())
				if err == nil && rng.IntN(4) > 0 {
					_, err = both[rng.IntN(2)].joinRace(ctx, race.GetId())
				}
				if refusalOf(err).reason == pb.ReasonChallengeStarted {
					return nil
				}
				if err != nil {
					return err
				}
			}
		})
	}
	starter := host.on(servers[1])
	group.Go(func() error {
		<-time.After(time.Duration(seed) * 20 * time.Millisecond)
		for {
			_, err := starter.startRace(ctx, race.GetId())
			if refusalOf(err).reason != pb.ReasonTooFewEntrants {
				return err
			}
		}
	})
	require.NoError(t, group.Wait())
	got, err := host.getChallenge(ctx, race.GetId())
	require.NoError(t, err)
	race = got.GetChallenge()
	on := map[string]bool{}
	for _, e := range race.GetEntrants() {
		on[e.GetGameId()] = true
		assert.Positive(t, env.length(t, e.GetGameId()), "an entrant without a game")
	}
	<-time.After(time.Until(race.GetOpenTime().AsTime()))
	for _, p := range slices.Concat(others, []*caller{host}) {
		env.observed.attempt(gameOf(p))
		r := &racer{caller: p, raceID: race.GetId(), gameID: gameOf(p), rng: rand.New(rand.NewPCG(seed, 0)), pace: 5 * time.Millisecond}
		group.Go(func() error {
			if !on[r.gameID] {
				_, problem, err := r.try(ctx, 1, pb.Direction_DIRECTION_LEFT)
				assert.Contains(t, []string{"early", "over"}, problem, "a player who left the roster played")
				return err
			}
			err := r.run(ctx, func() time.Time {
				if r.moves > 0 {
					return time.Time{}
				}
				return race.GetCloseTime().AsTime()
			})
			assert.Positive(t, r.moves, "an entrant could not play")
			_, resigned := r.resign(ctx, r.gameID)
			return errors.Join(err, resigned)
		})
	}
	require.NoError(t, group.Wait())
	for id := range on {
		host.awaitAttempt(t, id)
	}
	t.Logf("%d of %d were on the roster when the race started", len(on), len(others)+1)
}
