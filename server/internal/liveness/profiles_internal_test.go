package liveness

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/id"
	replaytest "github.com/gridstand/gridstand/internal/testkit/replay"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	profilev1 "github.com/gridstand/gridstand/server/internal/profile/v1"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// walked returns the profile of a player who plays only the variant of this test's games, from their
// logs.
func (r rig) walked(p replay.Player) *profilev1.Profile {
	r.t.Helper()
	v := &profilev1.Variant{Id: variant}
	walked := &profilev1.Profile{Variants: []*profilev1.Variant{v}}
	require.NoError(r.t, r.Log.IDs(r.t.Context(), func(gameIDs []string) error {
		for _, gameID := range gameIDs {
			tip, err := r.Log.Load(r.t.Context(), gameID, store.ID{}, nil)
			if err != nil {
				return err
			}
			s := tip.State
			if s.Status != replay.Finished || s.Seats[0].Player.ID != p.ID {
				continue
			}
			score, at := s.Position.Scores()[0], s.UpdateTime.UnixMilli()
			v.Games++
			if score > v.GetBestScore() || score == v.GetBestScore() && at < v.GetBestMs() {
				v.BestScore, v.BestGameId, v.BestMs = score, gameID, at
			}
			walked.Latest = append(walked.Latest, &profilev1.Game{Id: gameID, Variant: variant, Score: score, TimeMs: at})
		}
		return nil
	}))
	slices.SortFunc(walked.Latest, func(a, b *profilev1.Game) int {
		return cmp.Or(cmp.Compare(a.GetTimeMs(), b.GetTimeMs()), cmp.Compare(a.GetId(), b.GetId()))
	})
	return walked
}

func (r rig) requireProfile(p replay.Player, want *profilev1.Profile) {
	r.t.Helper()
	got, _, err := r.Profiles.Get(r.t.Context(), p.ID)
	require.NoError(r.t, err)
	require.True(r.t, proto.Equal(want, got), "%v\n%v", want, got)
}

// Ensure that a profile is what a walk over the logs of a player's games finds, whether each game was
// recorded once, twice or not before its server died, and that it stays so after the games were removed.
func TestRecovery_Profiles(t *testing.T) {
	t.Parallel()
	storetest.EachClock(t, func(t *testing.T, s *store.Store, forward func(time.Duration)) {
		r, ctx := newRig(t, s), t.Context()
		ann, bob := r.player("Ann"), r.player("Bob")
		var ids []string
		for n := range 6 {
			over := r.play(ann, true)
			for range n % 3 {
				require.NoError(t, r.Profiles.Record(ctx, over))
			}
			ids = append(ids, over.ID)
			forward(time.Minute)
		}
		r.play(ann, false)
		require.NoError(t, r.Profiles.Record(ctx, r.play(bob, true)))
		r.requireProfile(bob, r.walked(bob))
		_, err := r.Rebuild(ctx)
		require.NoError(t, err)
		want := r.walked(ann)
		assert.EqualValues(t, 6, want.GetVariants()[0].GetGames())
		r.requireProfile(ann, want)

		now, err := s.Time(ctx)
		require.NoError(t, err)
		require.NoError(t, s.Games.Expire(ctx, now.Add(time.Minute), ids[:5]...))
		forward(2 * time.Minute)
		require.NoError(t, s.Games.Expire(ctx, now, ids[5]))
		_, err = r.Rebuild(ctx)
		require.NoError(t, err)
		assert.Empty(t, r.walked(ann).GetLatest())
		r.requireProfile(ann, want)
		last := r.play(ann, true)
		_, err = r.Rebuild(ctx)
		require.NoError(t, err)
		got, _, err := r.Profiles.Get(ctx, ann.ID)
		require.NoError(t, err)
		assert.Len(t, got.GetLatest(), 7)
		assert.EqualValues(t, 7, got.GetVariants()[0].GetGames(), "the six removed games and this one")
		assert.Equal(t, last.ID, got.GetLatest()[6].GetId())
	})
}

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
