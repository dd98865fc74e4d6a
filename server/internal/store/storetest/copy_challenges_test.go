package storetest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
	"github.com/gridstand/gridstand/server/internal/store"
)

// challengesOn returns a challenge.Challenges that uses a store.
func challengesOn(s *store.Store) *challenge.Challenges {
	return challenge.New(challenge.Config{
		Store: s.Challenges, Log: gamelog.New(s.Games), Dailies: []string{"classic"}, Keep: 24 * time.Hour, WaitingFor: time.Hour,
	})
}

// createChallenges creates challenges of all kinds, with attempts and results.
func (data *copyData) createChallenges(t *testing.T, s *store.Store, log *gamelog.Log, boards *leaderboard.Boards) {
	t.Helper()
	ctx, challenges := t.Context(), challengesOn(s)
	classic, ok := variants.Current("classic")
	require.True(t, ok)
	today, tomorrow, now, err := challenges.Daily(ctx, "classic", "")
	require.NoError(t, err)
	all := []*challenge.Challenge{today, tomorrow}
	for n, kind := range []replay.ChallengeKind{replay.Race, replay.Link, replay.Rematch, replay.Race, replay.Link} {
		c, err := challenges.Create(ctx, challenge.Challenge{
			ID: id.Derive(fmt.Append(nil, "challenge ", n)), Kind: kind, Variant: classic.ID, Revision: classic.Revision,
			Creator: data.players[n+5], Seed: game.NewSeed(), Private: n == 4, Limit: time.Minute,
		}, now)
		require.NoError(t, err)
		all = append(all, c)
	}
	for n, c := range all {
		data.challenges = append(data.challenges, c.ID)
		if c.Kind == replay.Race {
			c, err = challenges.Join(ctx, c.ID, "", challenge.Entrant{Player: data.players[n+10], Ready: true})
			require.NoError(t, err)
		}
		for _, player := range data.players[10:20] {
			attempt := challenge.AttemptID(c.ID, player.ID)
			draft, err := gamelog.NewGame(attempt, c.Attempt(challenge.Entrant{Player: player}, int32(n)), c.Seed)
			require.NoError(t, err)
			_, err = log.Append(ctx, draft)
			require.NoError(t, err)
			data.attempts, data.games = append(data.attempts, attempt), append(data.games, attempt)
			require.NoError(t, boards.RecordChallenge(ctx, leaderboard.Result{
				Variant: c.Variant, PlayerID: player.ID, GameID: attempt, Score: data.random.Int32N(9), Time: now, ChallengeID: c.ID,
			}, now.Add(24*time.Hour)))
		}
	}
}

// readChallenges adds the challenges, as clients see them, to read.
func (data *copyData) readChallenges(t *testing.T, s *store.Store, boards *leaderboard.Boards, read map[string]any) {
	t.Helper()
	ctx := t.Context()
	found, _, err := challengesOn(s).GetAll(ctx, data.challenges...)
	require.NoError(t, err)
	require.Len(t, found, len(data.challenges))
	for _, c := range found {
		read["challenge "+c.ID] = []any{c.Kind, c.Variant, c.Creator, c.Seed.SeedBytes(), c.Private, c.CreateTime, c.OpenTime, c.CloseTime, c.Entrants}
		standings, err := boards.ListChallenge(ctx, c.Variant, c.ID, "", 100)
		require.NoError(t, err)
		require.NotEmpty(t, standings.Entries)
		read["standings "+c.ID] = standings
		own, around, total, err := boards.RankChallenge(ctx, c.Variant, c.ID, standings.Entries[0].PlayerID, 5)
		require.NoError(t, err)
		read["rank "+c.ID] = []any{own, around, total}
	}
	for kind := range uint8(5) {
		places, err := s.Challenges.List(ctx, kind, store.Place{}, 100)
		require.NoError(t, err)
		assert.Equal(t, kind != uint8(replay.Daily), len(places) > 0, "kind %d", kind)
		read[fmt.Sprint("challenges of kind ", kind)] = places
	}
	for _, attempt := range data.attempts {
		require.Contains(t, read, "tip "+attempt)
	}
}
