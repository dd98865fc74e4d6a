package redis

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Ensure that repeating the Update of a new challenge adds it to the lists if it is missing there.
func TestChallenges_Relisted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx, challenges := t.Context(), r.store.Challenges
		c := store.Challenge{ID: "a", Kind: 2, Listed: true, Created: time.Now(), Expires: time.Now().Add(time.Hour)}
		for _, want := range []error{nil, store.ErrMoved} {
			require.ErrorIs(t, challenges.Update(ctx, c), want)
			for kind := range uint8(3) {
				places, err := challenges.List(ctx, kind, store.Place{}, 10)
				require.NoError(t, err)
				assert.Equal(t, kind != 1, len(places) == 1, "kind %d", kind)
			}
			require.NoError(t, r.client.Del(ctx, "challenges:*", "challenges:2").Err())
		}
	})
}

// Ensure that no challenge is stored that could not be listed: nobody would repeat the Update of one that
// exists. One that is listed but not stored yet stays in the lists.
func TestChallenges_ListedFirst(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx, challenges, now := t.Context(), r.store.Challenges, time.Now()
		c := store.Challenge{ID: "a", Kind: 2, Listed: true, Created: now, Expires: now.Add(time.Hour)}
		require.NoError(t, r.client.Set(ctx, "challenges:2", "not a list", 0).Err())
		require.Error(t, challenges.Update(ctx, c))
		found, _, err := challenges.Get(ctx, "a")
		require.NoError(t, err)
		assert.Empty(t, found)
		require.NoError(t, r.client.Del(ctx, "challenges:2").Err())
		c.ID = "b"
		require.NoError(t, challenges.Update(ctx, c))
		assert.Equal(t, []string{"a", "b"}, r.client.ZRange(ctx, "challenges:*", 0, -1).Val())
	})
}

// Ensure that expired challenges are removed from lists when the lists grow.
func TestChallenges_ListsShrink(t *testing.T) {
	t.Parallel()
	server := redistest.StartMiniredis(t)
	client, challenges := redistest.NewClient(t, server.Addr()), openAt(t, server.Addr()).Challenges
	now, ctx := time.Now(), t.Context()
	server.SetTime(now)
	create := func(id string, kind uint8) {
		require.NoError(t, challenges.Update(ctx, store.Challenge{ID: id, Kind: kind, Listed: true, Created: now, Expires: now.Add(time.Hour)}))
		now = now.Add(time.Millisecond)
	}
	listed := func(kind string) []string { return client.ZRange(ctx, "challenges:"+kind, 0, -1).Val() }
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		create(id, 2)
	}
	server.SetTime(now.Add(time.Hour))
	server.FastForward(time.Hour + time.Minute)
	now = now.Add(time.Hour + time.Minute)
	create("f", 2)
	assert.Equal(t, []string{"c", "d", "e", "f"}, listed("*"))
	assert.Equal(t, []string{"c", "d", "e", "f"}, listed("2"))
	create("g", 3)
	assert.Equal(t, []string{"e", "f", "g"}, listed("*"))
	assert.Equal(t, []string{"c", "d", "e", "f"}, listed("2"))
}

// Ensure that an unreadable challenge or account is not mistaken for a missing one.
func TestCorrupt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx, player := t.Context(), id.New()
		require.NoError(t, r.client.HSet(ctx, "challenge:{a}", "revision", "what?").Err())
		require.NoError(t, r.client.HSet(ctx, "player:{"+player+"}", "name", "Ann", "secret", "digest", "bot", "0", "created", "today").Err())
		_, _, getErr := r.store.Challenges.Get(ctx, "a")
		_, accountErr := r.store.Accounts.Get(ctx, []string{player})
		for _, err := range []error{getErr, accountErr} {
			var failed *store.Error
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, store.Corrupt, failed.Kind)
		}
	})
}
