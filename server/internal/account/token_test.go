package account_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/server/internal/account"
)

func TestStore_Verify(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		store, ctx := account.New(client, keep), t.Context()
		ann, token, err := store.Create(ctx, "Ann", secretA, false)
		require.NoError(t, err)
		bob, _, err := store.Create(ctx, "Bob", secretB, false)
		require.NoError(t, err)

		got, err := store.Verify(ctx, token)
		require.NoError(t, err)
		assert.Equal(t, ann, got)

		for name, wrong := range map[string]string{
			"another secret":   ann.ID + "." + secretB,
			"another player":   bob.ID + "." + secretA,
			"longer":           token + "a",
			"unknown player":   id.New() + "." + secretA,
			"the digest":       ann.ID + "." + client.HGet(ctx, "player:{"+ann.ID+"}", "secret").Val(),
			"upper case":       strings.ToUpper(token),
			"Bearer and token": "Bearer " + token,
		} {
			_, err = store.Verify(ctx, wrong)
			require.ErrorIs(t, err, account.ErrBadToken, name)
		}

		// Accepted from now on without a look-up, but only by this store.
		require.NoError(t, client.FlushDB(ctx).Err())
		_, err = store.Verify(ctx, token)
		require.NoError(t, err)
		_, err = account.New(client, keep).Verify(ctx, token)
		require.ErrorIs(t, err, account.ErrBadToken)
	})
}

// Ensure that a malformed token is refused before Redis is asked.
func TestStore_Verify_Malformed(t *testing.T) {
	t.Parallel()
	store := account.New(noRedis(t), keep)
	for _, token := range []string{
		"", ".", id.New(), id.New() + ".", "." + secretA, secretA, "x." + secretA, id.New() + "." + secretA[1:],
		id.New() + "." + secretA + "." + secretA, id.New() + "." + strings.Repeat("a", 129),
		"}:{" + id.New()[3:] + "." + secretA, strings.Repeat("a", 1<<20),
	} {
		_, err := store.Verify(t.Context(), token)
		require.ErrorIs(t, err, account.ErrBadToken)
	}
}

func TestStore_Rotate(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		store, ctx := account.New(client, keep), t.Context()
		ann, old, err := store.Create(ctx, "Ann", secretA, false)
		require.NoError(t, err)

		for range 2 { // The second is a repeat after a lost reply.
			token, err := store.Rotate(ctx, ann.ID, secretB)
			require.NoError(t, err)
			assert.Equal(t, ann.ID+"."+secretB, token)
			got, err := store.Verify(ctx, token)
			require.NoError(t, err)
			assert.Equal(t, ann, got)
		}
		_, err = account.New(client, keep).Verify(ctx, old)
		require.ErrorIs(t, err, account.ErrBadToken)

		// The name goes with the current secret, and only with it.
		again, _, err := store.Create(ctx, "Ann", secretB, false)
		require.NoError(t, err)
		assert.Equal(t, ann, again)
		_, _, err = store.Create(ctx, "Ann", secretA, false)
		require.ErrorIs(t, err, account.ErrNameTaken)

		drawn, err := store.Rotate(ctx, ann.ID, "")
		require.NoError(t, err)
		_, err = store.Verify(ctx, drawn)
		require.NoError(t, err)

		unknown := id.New()
		_, err = store.Rotate(ctx, unknown, "")
		require.ErrorIs(t, err, account.ErrNotFound)
		assert.Zero(t, client.Exists(ctx, "player:{"+unknown+"}").Val())
		_, err = store.Rotate(ctx, "me", "")
		require.ErrorIs(t, err, account.ErrNotFound)
	})
}

func TestStore_Reserve(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		store, ctx := account.New(client, keep), t.Context()
		ann, bob := id.New(), id.New()
		games := []string{id.New(), id.New(), id.New()}

		for range 2 { // The second round repeats.
			require.NoError(t, store.Reserve(ctx, ann, games[0], 2))
			require.NoError(t, store.Reserve(ctx, ann, games[1], 2))
		}
		require.ErrorIs(t, store.Reserve(ctx, ann, games[2], 2), account.ErrTooManyGames)
		require.NoError(t, store.Reserve(ctx, bob, games[2], 2))
		require.NoError(t, store.Reserve(ctx, ann, games[2], 0), "0 is no limit")
		require.ErrorIs(t, store.Reserve(ctx, ann, id.New(), 2), account.ErrTooManyGames)

		open, err := store.OpenGames(ctx, ann)
		require.NoError(t, err)
		ids := make([]string, len(open))
		for i, o := range open {
			ids[i] = o.ID
			assert.Less(t, o.Age.Abs(), time.Minute)
			if i > 0 {
				assert.LessOrEqual(t, o.Age, open[i-1].Age, "the oldest first")
			}
		}
		assert.ElementsMatch(t, games, ids)
		for range 2 {
			require.NoError(t, store.Release(ctx, ann, ids[0], ids[1]))
		}
		require.NoError(t, store.Release(ctx, ann))
		require.NoError(t, store.Reserve(ctx, ann, id.New(), 2))
		require.ErrorIs(t, store.Reserve(ctx, ann, id.New(), 2), account.ErrTooManyGames)
	})
}

// Ensure that the limit holds against callers at the same moment.
func TestStore_Reserve_Concurrent(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		var wg sync.WaitGroup
		player := id.New()
		for range 20 {
			wg.Go(func() {
				err := account.New(client, keep).Reserve(t.Context(), player, id.New(), 5)
				if err != nil {
					assert.ErrorIs(t, err, account.ErrTooManyGames)
				}
			})
		}
		wg.Wait()
		open, err := account.New(client, keep).OpenGames(t.Context(), player)
		require.NoError(t, err)
		assert.Len(t, open, 5)
	})
}
