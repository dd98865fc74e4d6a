package rpc

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/twenty48"
	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/internal/id"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
	"github.com/gridstand/gridstand/server/limits"
)

// overtaken is a store of challenges in which the next updates come too late.
type overtaken struct {
	store.Challenges
	updates int
}

func (o *overtaken) Update(ctx context.Context, c store.Challenge) error {
	if o.updates > 0 {
		o.updates--
		return store.ErrMoved
	}
	return o.Challenges.Update(ctx, c)
}

// leaving is a store of challenges whose caller leaves when one is written, so that the reply may be lost.
type leaving struct {
	store.Challenges
	leave context.CancelFunc
	ids   []string // of the challenges that were created
}

func (l *leaving) Update(ctx context.Context, c store.Challenge) error {
	err := l.Challenges.Update(ctx, c)
	l.leave()
	if c.Revision == 0 {
		l.ids = append(l.ids, c.ID)
	}
	return cmp.Or(err, ctx.Err())
}

// creating counts the games that the hub creates or finds again.
type creating struct {
	noJobs
	mu               sync.Mutex
	wanted, failures int
}

// fail makes the hub fail to create the next n games.
func (p *creating) fail(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failures = n
}

func (p *creating) Hold(ctx context.Context, gameID string, last, latest time.Time) (time.Time, error) {
	p.mu.Lock()
	p.wanted++
	fails := p.failures > 0
	if fails {
		p.failures--
	}
	p.mu.Unlock()
	if fails {
		return time.Time{}, context.DeadlineExceeded
	}
	return p.noJobs.Hold(ctx, gameID, last, latest)
}

// openings is a Demand that records the attempts at races that have been started.
type openings struct {
	Demand
	attempts *[]string // nil if nothing is recorded
}

func (openings) Creates(string, string) {}

func (o openings) Opens(_ context.Context, gameIDs ...string) error {
	if o.attempts != nil {
		*o.attempts = append(*o.attempts, gameIDs...)
	}
	return nil
}

// noOutages is a store's record without outages.
type noOutages struct{}

func (noOutages) LastOutage() store.Span { return store.Span{} }

func (noOutages) Outage(context.Context) (store.Span, time.Time, error) {
	return store.Span{}, time.Time{}, nil
}

// newRacing returns a service whose challenges are in races and everything else in kept.
func newRacing(kept *store.Store, races store.Challenges, jobs match.Jobs, limited limits.Limits) *Service {
	log := gamelog.New(kept.Games)
	return New(Config{
		Accounts: account.New(kept.Accounts, time.Hour), Leaderboard: leaderboard.New(kept.Boards, nil, nil),
		Demand: openings{}, Log: log, Logger: slog.New(slog.DiscardHandler),
		Hub: match.NewHub(match.Config{Log: log, Feed: kept.Feed, Jobs: jobs}),
		Challenges: challenge.New(challenge.Config{
			Store: races, Log: log, Keep: time.Hour, Outages: noOutages{},
		}),
		Limits: limited,
	})
}

// by returns the context of a player's call.
func by(ctx context.Context, name string) context.Context {
	p := account.Player{Player: replay.Player{ID: id.Derive([]byte(name)), Name: name}}
	return context.WithValue(ctx, identityKey{}, identity{player: p})
}

// join enters the caller into a race, or a bot if one is given. A repeated call adds the same bot.
func join(ctx context.Context, s *Service, raceID, bot string, ready bool) error {
	_, err := s.JoinChallenge(ctx, &pb.JoinChallengeRequest{ChallengeId: raceID, Bot: bot, Ready: ready, RequestId: raceID})
	return err
}

// create creates a race of a minute, or the one that follows another, and returns its id.
func create(ctx context.Context, s *Service, request *pb.CreateChallengeRequest) (string, error) {
	if request.Kind = pb.ChallengeKind_CHALLENGE_KIND_RACE; request.GetPreviousChallengeId() == "" {
		request.Variant, request.Limit = "classic", durationpb.New(time.Minute)
	}
	created, err := s.CreateChallenge(ctx, request)
	return created.GetChallenge().GetId(), err
}

// Ensure that a player who enters a race counts one new game, however often another call changes the race
// first, and that RaceNow writes nothing for a player who already waits.
func TestRaces_OneGame(t *testing.T) {
	t.Parallel()
	for name, enter := range map[string]func(ctx context.Context, s *Service, raceID string) error{
		"JoinChallenge": func(ctx context.Context, s *Service, raceID string) error {
			return join(ctx, s, raceID, "", false)
		},
		"RaceNow": func(ctx context.Context, s *Service, _ string) error {
			_, err := s.RaceNow(ctx, &pb.RaceNowRequest{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, kept *store.Store) {
				races := &overtaken{Challenges: kept.Challenges}
				jobs := &creating{}
				s := newRacing(kept, races, jobs, limits.Limits{limits.NewGamesPerMinute: 2})
				ann, bob := by(t.Context(), "ann"), by(t.Context(), "bob")
				waiting, err := s.RaceNow(ann, &pb.RaceNowRequest{})
				require.NoError(t, err)
				assert.Equal(t, 2, jobs.wanted, "the player's and the bot's")
				_, err = s.RaceNow(ann, &pb.RaceNowRequest{})
				require.NoError(t, err)
				assert.Equal(t, 2, jobs.wanted)
				races.updates = 3
				require.NoError(t, enter(bob, s, waiting.GetChallenge().GetId()))
				assert.Zero(t, races.updates)
				require.NoError(t, s.takeGames(bob, caller(bob).ID, 1, 0))
				require.Error(t, s.takeGames(bob, caller(bob).ID, 1, 0))
			})
		})
	}
}

// Ensure that all entrants of a race have attempts although the caller who enters or creates it leaves when the race
// is written, and after a repeated call if the server could not create the attempts at first.
func TestRaces_Attempts(t *testing.T) {
	t.Parallel()
	type races struct{ waiting, open string } // both of ann
	for name, call := range map[string]func(ann, bob context.Context, s *Service, of races) error{
		"RaceNow": func(_, bob context.Context, s *Service, _ races) error {
			_, err := s.RaceNow(bob, &pb.RaceNowRequest{})
			return err
		},
		"JoinChallenge": func(_, bob context.Context, s *Service, of races) error { return join(bob, s, of.waiting, "", false) },
		"JoinChallenge, a bot": func(ann, _ context.Context, s *Service, of races) error {
			return join(ann, s, of.waiting, "rote", false)
		},
		"CreateChallenge": func(_, bob context.Context, s *Service, _ races) error {
			_, err := create(bob, s, &pb.CreateChallengeRequest{RequestId: raceID(1)})
			return err
		},
		"CreateChallenge after another": func(ann, _ context.Context, s *Service, of races) error {
			_, err := create(ann, s, &pb.CreateChallengeRequest{PreviousChallengeId: of.open})
			return err
		},
	} {
		for _, tt := range []struct{ private, fails bool }{{false, false}, {false, true}, {true, false}, {true, true}} {
			t.Run(fmt.Sprintf("%s%+v", name, tt), func(t *testing.T) {
				t.Parallel()
				storetest.EachClock(t, func(t *testing.T, kept *store.Store, forward func(time.Duration)) {
					written, jobs := &leaving{Challenges: kept.Challenges, leave: func() {}}, &creating{}
					s := newRacing(kept, written, jobs, limits.Limits{})
					ann, bob := by(t.Context(), "ann"), by(t.Context(), "bob")
					race := func() string {
						id, err := create(ann, s, &pb.CreateChallengeRequest{Private: tt.private})
						require.NoError(t, err)
						return id
					}
					open := race()
					require.NoError(t, join(ann, s, open, "greedy", false))
					_, err := s.StartChallenge(ann, &pb.StartChallengeRequest{ChallengeId: open})
					require.NoError(t, err)
					forward(challenge.Countdown)
					of := races{waiting: race(), open: open} // If they are private, RaceNow creates another one.
					if tt.fails {
						jobs.fail(1)
						require.Error(t, call(ann, bob, s, of))
						require.NoError(t, call(ann, bob, s, of))
					} else {
						leaving, leave := context.WithCancel(t.Context())
						written.leave = leave
						_ = call(by(leaving, "ann"), by(leaving, "bob"), s, of)
						require.Error(t, leaving.Err())
					}
					for _, id := range written.ids {
						c, _, err := s.Challenges.Get(t.Context(), id)
						require.NoError(t, err)
						for _, e := range c.Entrants {
							head, err := s.Log.Head(t.Context(), e.GameID)
							require.NoError(t, err)
							assert.True(t, head.Exists, "%s%s", e.Player.Name, e.Bot)
						}
					}
				})
			})
		}
	}
}

// Ensure that a caller who leaves does not enter a race, or add a bot to it, in a later try.
func TestJoinChallenge_Left(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, kept *store.Store) {
		for bot, player := range map[string]string{"": "bob", "rote": "ann"} {
			races := &leaving{Challenges: &overtaken{Challenges: kept.Challenges}, leave: func() {}}
			s := newRacing(kept, races, &creating{}, limits.Limits{})
			raceID, err := create(by(t.Context(), "ann"), s, &pb.CreateChallengeRequest{})
			require.NoError(t, err)
			races.Challenges.(*overtaken).updates = 1
			ctx, leave := context.WithCancel(t.Context())
			races.leave = leave
			require.ErrorIs(t, join(by(ctx, player), s, raceID, bot, false), context.Canceled)
			c, _, err := s.Challenges.Get(t.Context(), raceID)
			require.NoError(t, err)
			assert.Len(t, c.Entrants, 1)
		}
	})
}

// Ensure that a race starts although the caller whose call starts it leaves when the roster is written.
func TestRaces_Started(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, kept *store.Store) {
		races := &leaving{Challenges: kept.Challenges}
		s := newRacing(kept, races, &creating{}, limits.Limits{})
		for name, call := range map[string]func(ctx context.Context, raceID string) error{
			"JoinChallenge": func(ctx context.Context, raceID string) error {
				return join(by(ctx, "bob"), s, raceID, "", true)
			},
			"LeaveChallenge": func(ctx context.Context, raceID string) error {
				_, err := s.LeaveChallenge(by(ctx, "bob"), &pb.LeaveChallengeRequest{ChallengeId: raceID})
				return err
			},
			"StartChallenge": func(ctx context.Context, raceID string) error {
				_, err := s.StartChallenge(by(ctx, "ann"), &pb.StartChallengeRequest{ChallengeId: raceID})
				return err
			},
		} {
			races.leave = func() {}
			ann, bob := by(t.Context(), "ann"), by(t.Context(), "bob")
			raceID, err := create(ann, s, &pb.CreateChallengeRequest{})
			require.NoError(t, err)
			require.NoError(t, join(bob, s, raceID, "", false))
			require.NoError(t, join(ann, s, raceID, "rote", false))
			require.NoError(t, join(ann, s, raceID, "", true))
			ctx, leave := context.WithCancel(t.Context())
			races.leave = leave
			_ = call(ctx, raceID)
			require.Error(t, ctx.Err())
			c, _, err := s.Challenges.Get(t.Context(), raceID)
			require.NoError(t, err)
			assert.NotZero(t, c.OpenTime, name)
		}
	})
}

// Ensure that the jobs of all attempts at a race are scheduled when it has been started, once.
func TestRaces_Opens(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, kept *store.Store) {
		opened := openings{attempts: new([]string)}
		s := newRacing(kept, kept.Challenges, &creating{}, limits.Limits{})
		s.Demand = opened
		ann, bob := by(t.Context(), "ann"), by(t.Context(), "bob")
		raceID, err := create(ann, s, &pb.CreateChallengeRequest{})
		require.NoError(t, err)
		require.NoError(t, join(bob, s, raceID, "", false))
		require.NoError(t, join(ann, s, raceID, "rote", false))
		assert.Empty(t, *opened.attempts)
		start := func() *challenge.Challenge {
			_, err := s.StartChallenge(ann, &pb.StartChallengeRequest{ChallengeId: raceID})
			require.NoError(t, err)
			c, _, err := s.Challenges.Get(t.Context(), raceID)
			require.NoError(t, err)
			return c
		}
		want := start().GameIDs()
		assert.Len(t, want, 3)
		assert.Equal(t, want, *opened.attempts)
		start()
		assert.Equal(t, want, *opened.attempts)
	})
}

// stuck returns the id of a race of the caller and a bot whose entrants are all ready, and that does not start as long as
// jobs fails.
func stuck(ctx context.Context, t *testing.T, s *Service, jobs *creating) string {
	t.Helper()
	waiting, err := s.RaceNow(ctx, &pb.RaceNowRequest{}) // with a bot, which is ready
	require.NoError(t, err)
	jobs.fail(1 << 30)
	require.Error(t, join(ctx, s, waiting.GetChallenge().GetId(), "", true))
	return waiting.GetChallenge().GetId()
}

// Ensure that a race whose entrants are all ready starts for a player who watches it, if the call that made them so could
// not start it, and although the player leaves then, and that players see the race also while it cannot start.
func TestRaces_StartedLater(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, kept *store.Store) {
		jobs, races := &creating{}, &leaving{Challenges: kept.Challenges, leave: func() {}}
		s := newRacing(kept, races, jobs, limits.Limits{})
		ann := by(t.Context(), "ann")
		raceID := stuck(ann, t, s, jobs)
		watches := func(ctx context.Context) (opened bool, _ error) {
			l := s.addStream(ctx, raceID, "")
			_, failed := l.first(ctx)
			s.removeStream(l, caller(ctx).ID, "")
			c, _, err := s.Challenges.Get(t.Context(), raceID)
			require.NoError(t, err)
			return !c.OpenTime.IsZero(), failed
		}
		opened, err := watches(ann)
		require.NoError(t, err)
		assert.False(t, opened)
		jobs.fail(0)
		ctx, leave := context.WithCancel(ann)
		races.leave = leave
		opened, _ = watches(ctx)
		require.Error(t, ctx.Err())
		assert.True(t, opened)
	})
}

// Ensure that each update tries to start a race that could not start, with one warning.
func TestLiveChallenge_NotStarted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, kept *store.Store) {
		jobs, log := &creating{}, &bytes.Buffer{}
		s := newRacing(kept, kept.Challenges, jobs, limits.Limits{})
		s.Logger = slog.New(slog.NewTextHandler(log, nil))
		ann := by(t.Context(), "ann")
		raceID := stuck(ann, t, s, jobs)
		l := newLiveChallenge(s, raceID)
		l.players[caller(ann).ID] = 1
		for range 2 {
			tried := jobs.wanted
			require.NoError(t, l.update(ann))
			assert.Less(t, tried, jobs.wanted)
		}
		assert.Equal(t, 1, strings.Count(log.String(), "id=race-not-started"))
		jobs.fail(0)
		require.NoError(t, l.update(ann))
		c, _, err := s.Challenges.Get(ann, raceID)
		require.NoError(t, err)
		assert.False(t, c.OpenTime.IsZero(), "the race has started")
	})
}

// Ensure that standings have the order of the results, and that of the roster if they are equal, also those of
// attempts that are unreadable.
func TestRankEntrants(t *testing.T) {
	t.Parallel()
	c := &challenge.Challenge{CloseTime: time.UnixMilli(10)}
	state := func(status replay.Status) *replay.State {
		return &replay.State{Status: status, Position: &twenty48.Position{}, UpdateTime: time.UnixMilli(8)}
	}
	states := []*replay.State{nil, state(replay.Active), nil, state(replay.Finished)}
	for i := range states {
		c.Entrants = append(c.Entrants, challenge.Entrant{Bot: "greedy", GameID: raceID(i)})
	}
	ranked := rankEntrants(c, challengeAt(c, c.CloseTime).GetEntrants(), states, nil)
	ids := convert.All(ranked.GetStandings(), (*pb.Standing).GetGameId)
	assert.Equal(t, []string{raceID(3), raceID(0), raceID(1), raceID(2)}, ids)
}

// Ensure that no race follows one of a variant that the server no longer has.
func TestCreateChallenge_NoVariant(t *testing.T) {
	t.Parallel()
	storetest.EachClock(t, func(t *testing.T, kept *store.Store, forward func(time.Duration)) {
		s := newRacing(kept, kept.Challenges, &creating{}, limits.Limits{})
		ann := by(t.Context(), "ann")
		_, now, err := s.Challenges.Get(t.Context(), raceID(0))
		require.ErrorIs(t, err, challenge.ErrNotFound)
		_, err = s.Challenges.Create(t.Context(), challenge.Challenge{
			ID: raceID(1), Kind: replay.Race, Creator: caller(ann).Player, Variant: "chess", Seed: game.NewSeed(), Limit: time.Minute,
			Entrants: []challenge.Entrant{{Bot: "greedy", GameID: raceID(2)}},
		}, now)
		require.NoError(t, err)
		_, err = s.Challenges.Start(t.Context(), raceID(1), true, func(*challenge.Challenge) error { return nil })
		require.NoError(t, err)
		forward(challenge.Countdown)
		_, err = create(ann, s, &pb.CreateChallengeRequest{PreviousChallengeId: raceID(1)})
		assert.Same(t, errVariantNotFound, s.toStatus(t.Context(), "", err))
	})
}
