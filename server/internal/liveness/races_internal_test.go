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

// Ensure that Rebuild reads the races of several games at once.
func TestRecovery_Rebuild_Races(t *testing.T) {
	t.Parallel()
	r, ctx := newRig(t, storetest.New(t)), waittest.Context(t)
	r.Profiles.Challenges = challenge.New(challenge.Config{Store: pairs{meet: make(chan struct{})}})
	ann := r.player("Ann")
	for range 2 {
		seed := game.NewSeed()
		created := replaytest.Created(t, variant, ann, seed)
		created.Attempt = replay.Attempt{ChallengeID: id.New(), Kind: replay.Race}
		d, err := gamelog.NewGame(id.New(), created, seed)
		require.NoError(t, err)
		appended, err := r.Log.Append(ctx, d)
		require.NoError(t, err)
		d, err = appended.Tip.Draft(replay.Entry{Action: replay.Resigned{}}, time.Time{}, nil)
		require.NoError(t, err)
		_, err = r.Log.Append(ctx, d)
		require.NoError(t, err)
	}
	rebuilt, err := r.Rebuild(ctx)
	require.NoError(t, err)
	assert.Equal(t, 2, rebuilt.Finished)
}
