package rpc

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/id"
	replaytest "github.com/gridstand/gridstand/internal/testkit/replay"
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

// noGame is a Planner that counts the games that it was told to create, but creates none.
type noGame struct {
	anyPlanner
	wanted int
}

func (*noGame) Creates(string, string) {}

func (p *noGame) Create(
	context.Context, *match.Hub, string, replay.Created, game.Seed, time.Time,
) (*replay.State, error) {
	p.wanted++
	return nil, nil
}

// Ensure that a player who enters a race counts one new game, however often another call changes the race
// first, and that RaceNow writes nothing for a player who already waits.
func TestRaces_OneGame(t *testing.T) {
	t.Parallel()
	for name, enter := range map[string]func(ctx context.Context, s *Service, raceID string) error{
		"JoinChallenge": func(ctx context.Context, s *Service, raceID string) error {
			_, err := s.JoinChallenge(ctx, &pb.JoinChallengeRequest{ChallengeId: raceID})
			return err
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
				planner := &noGame{}
				s := New(Config{
					Accounts: account.New(kept.Accounts, time.Hour), Leaderboard: leaderboard.New(kept.Boards, nil, nil),
					Planner: planner,
					Challenges: challenge.New(challenge.Config{
						Store: races, Log: gamelog.New(kept.Games), Keep: time.Hour, WaitingFor: time.Hour,
					}),
					Limits: limits.Limits{limits.NewGamesPerMinute: 2},
				})
				by := func(name string) context.Context {
					p := account.Player{ID: id.Derive([]byte(name)), Name: name}
					return context.WithValue(t.Context(), identityKey{}, identity{player: p})
				}
				ann, bob := by("ann"), by("bob")
				waiting, err := s.RaceNow(ann, &pb.RaceNowRequest{})
				require.NoError(t, err)
				assert.Equal(t, 2, planner.wanted, "the player's and the bot's")
				_, err = s.RaceNow(ann, &pb.RaceNowRequest{})
				require.NoError(t, err)
				assert.Equal(t, 2, planner.wanted)
				races.updates = 3
				require.NoError(t, enter(bob, s, waiting.GetChallenge().GetId()))
				assert.Zero(t, races.updates)
				require.NoError(t, s.takeGames(bob, caller(bob).ID, 1, 0))
				require.Error(t, s.takeGames(bob, caller(bob).ID, 1, 0))
			})
		})
	}
}

// Ensure that of equal scores, the one of the attempt that ended earlier ranks first, and that running ones and
// those which the race's close ends keep the order of the roster, in whatever order players move and servers end them.
func TestRankEntrants_Ties(t *testing.T) {
	t.Parallel()
	closed, seed := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), replaytest.Seed(t, 1)
	c := &challenge.Challenge{CloseTime: closed}
	var states []*replay.State
	for i, after := range []time.Duration{3 * time.Millisecond, 2 * time.Millisecond, time.Millisecond, -time.Millisecond} {
		c.Entrants = append(c.Entrants, challenge.Entrant{Bot: "greedy", GameID: string(rune('a' + i))})
		e, err := replay.Start(id.Derive([]byte{byte(i)}), replay.Entry{Seat: game.NoSeat, Action: replay.Created{
			Variant: "classic", Revision: 1, Commitment: seed.Commitment(), Seats: []replay.Seat{{Bot: "greedy"}},
		}}, seed, closed.Add(after))
		require.NoError(t, err)
		states = append(states, e.State)
	}
	for status, want := range map[replay.Status]string{replay.Active: "abcd", replay.Finished: "dabc"} {
		var order string
		for _, state := range states {
			state.Status = status
		}
		for _, line := range rankEntrants(c, states, nil) {
			order += line.GetGameId()
		}
		assert.Equal(t, want, order)
	}
}
