package liveness

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
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// pairs is a store without challenges. Each call of Get waits for another one.
type pairs struct {
	store.Challenges
	meet chan struct{}
}

func (p pairs) Get(ctx context.Context, _ ...string) (map[string]store.Challenge, time.Time, error) {
	select {
	case p.meet <- struct{}{}:
	case <-p.meet:
	case <-ctx.Done():
	}
	return nil, time.Time{}, ctx.Err()
}

// resign creates a player's attempt at a race and ends it.
func (r rig) resign(p replay.Player, raceID, gameID string) {
	r.t.Helper()
	seed := game.NewSeed()
	created := replaytest.Created(r.t, variant, p, seed)
	created.Attempt = replay.Attempt{ChallengeID: raceID, Kind: replay.Race}
	d, err := gamelog.NewGame(gameID, created, seed)
	require.NoError(r.t, err)
	require.NoError(r.t, r.Log.Append(r.t.Context(), d))
	d, err = d.Tip().Draft(replay.Entry{Action: replay.Resigned{}}, time.Time{}, nil)
	require.NoError(r.t, err)
	require.NoError(r.t, r.Log.Append(r.t.Context(), d))
}

// Ensure that Rebuild, which the operator's command runs without a server, reads races that have not ended.
func TestRecovery_Rebuild_OpenRaces(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	r, ctx := newRig(t, s), t.Context()
	r.Profiles.Challenges = challenge.New(challenge.Config{Store: s.Challenges, Log: r.Log, Keep: time.Hour})
	now, err := s.Time(ctx)
	require.NoError(t, err)
	ann := r.player("Ann")
	for _, closes := range []time.Duration{-time.Second, time.Hour} {
		raceID := id.New()
		_, err := r.Profiles.Challenges.Create(ctx, challenge.Challenge{
			ID: raceID, Kind: replay.Race, Variant: variant, Creator: ann, OpenTime: now.Add(-time.Minute), CloseTime: now.Add(closes),
		}, now)
		require.NoError(t, err)
		r.resign(ann, raceID, challenge.AttemptID(raceID, ann.ID))
	}
	rebuilt, err := r.Rebuild(ctx)
	require.NoError(t, err)
	assert.Equal(t, 2, rebuilt.Finished)
}

// Ensure that Rebuild reads the races of several games at once.
func TestRecovery_Rebuild_Races(t *testing.T) {
	t.Parallel()
	r, ctx := newRig(t, storetest.New(t)), waittest.Context(t)
	r.Profiles.Challenges = challenge.New(challenge.Config{Store: pairs{meet: make(chan struct{})}})
	ann := r.player("Ann")
	for range 2 {
		r.resign(ann, id.New(), id.New())
	}
	rebuilt, err := r.Rebuild(ctx)
	require.NoError(t, err)
	assert.Equal(t, 2, rebuilt.Finished)
}
