package rpc

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game/replay"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/front"
	"github.com/gridstand/gridstand/server/limits"
)

// anyDemand is embedded in fakes that implement only some methods.
type anyDemand interface{ Demand }

// createdFrom is a Demand that records from which address each player creates games.
type createdFrom struct {
	anyDemand

	addresses map[string]string
}

func (c createdFrom) Creates(playerID, address string) { c.addresses[playerID] = address }

// Ensure that a game that exceeds the limit of an account or of an address counts toward neither, and that
// the Demand gets the address of a caller who creates a game.
func TestTakeGames(t *testing.T) {
	t.Parallel()
	demand := createdFrom{addresses: map[string]string{}}
	s := New(Config{
		Demand: demand,
		Limits: limits.Limits{limits.NewGamesPerMinute: 2, limits.NewGamesPerAddressPerMinute: 3, limits.NewChallengesPerAddressPerMinute: 1},
	})
	budgets := front.NewBudgets(&limits.Limits{}, nil)
	create := func(playerID string, host int, challenges int) string {
		ctx := budgets.Of(fmt.Sprint("192.0.2.", host)).Context(t.Context())
		err := s.takeGames(ctx, playerID, 1, challenges)
		if exceeded, ok := errors.AsType[*limits.ExceededError](err); ok {
			return exceeded.Field
		}
		require.NoError(t, err)
		return ""
	}
	const ofAccount, ofAddress = "new_games_per_minute", "new_games_per_address_per_minute"
	const ofChallenges = "new_challenges_per_address_per_minute"
	var refused []string
	for range 4 {
		refused = append(refused, create("ada", 1, 0))
	}
	assert.Equal(t, []string{"", "", ofAccount, ofAccount}, refused)
	assert.Empty(t, create("bob", 1, 0), "refused games of another account count toward an address")
	assert.Equal(t, ofAddress, create("bob", 1, 0))
	assert.Equal(t, ofAddress, create("bob", 1, 0))
	assert.Empty(t, create("bob", 2, 0), "games refused because of an address count toward an account")
	assert.Empty(t, create("cy", 3, 1))
	assert.Equal(t, ofChallenges, create("cy", 3, 1))
	assert.Equal(t, ofChallenges, create("cy", 3, 1))
	assert.Empty(t, create("cy", 3, 0), "games refused because of their challenge count toward an account")
	assert.Empty(t, create("dan", 3, 0), "games refused because of their challenge count toward an address")
	assert.Equal(t, map[string]string{"ada": "192.0.2.1", "bob": "192.0.2.2", "cy": "192.0.2.3", "dan": "192.0.2.3"}, demand.addresses)
}

// Ensure that calls that need a token, because they change something or list what only their player may see,
// count toward the limit of their player.
func TestLimitPlayer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{Limits: limits.Limits{limits.MovesPerSecond: 1}})
		ada := account.Player{Player: replay.Player{ID: "ada"}}
		ctx := context.WithValue(t.Context(), identityKey{}, identity{player: ada})
		require.NoError(t, s.limitPlayer(ctx, methods[pb.GameService_Move_FullMethodName].callers))
		for method, counts := range map[string]bool{
			pb.GameService_Move_FullMethodName: true, pb.PlayerService_ListKeys_FullMethodName: true,
			pb.GameService_React_FullMethodName: true, pb.PlayerService_OpenSession_FullMethodName: false,
			pb.PlayerService_CreatePlayer_FullMethodName: false, pb.GameService_ListGames_FullMethodName: false,
			pb.PlayerService_GetProfile_FullMethodName: false, pb.ChallengeService_JoinChallenge_FullMethodName: true,
		} {
			assert.Equal(t, counts, s.limitPlayer(ctx, methods[method].callers) != nil, method)
		}
	})
}

// Ensure that a race with more games than a player may create in a minute can be created once a minute.
func TestPacer_More(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(&limits.ExceededError{Value: 3}, time.Minute)
		require.NoError(t, p.take("ann", 8))
		exceeded, ok := errors.AsType[*limits.ExceededError](p.take("ann", 8))
		require.True(t, ok)
		assert.Equal(t, time.Minute, exceeded.Retry)
		time.Sleep(exceeded.Retry) //nolint:forbidigo // The bubble's clock is fake.
		require.NoError(t, p.take("ann", 8))
	})
}
