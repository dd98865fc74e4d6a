package account_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/server/internal/account"
)

// Ensure that an account lapses after a time without a call or a game, and not
// before; that its name stays taken; and that no secret that it ever had
// revives it.
func TestLapse(t *testing.T) {
	t.Parallel()
	embedded := redistest.StartMiniredis(t)
	client, ctx := redistest.NewClient(t, embedded.Addr()), t.Context()
	const most = keep - time.Hour
	ann, first, err := account.New(client, keep).Create(ctx, "Ann", secretA, false)
	require.NoError(t, err)
	bob, _, err := account.New(client, keep).Create(ctx, "Bob", secretA, false)
	require.NoError(t, err)
	for range 2 {
		embedded.FastForward(most)
		_, err = account.New(client, keep).Verify(ctx, first)
		require.NoError(t, err, "a call")
		require.NoError(t, account.New(client, keep).Renew(ctx, bob.ID, id.New(), "no id"), "a game")
	}
	embedded.FastForward(most)
	token, err := account.New(client, keep).Rotate(ctx, ann.ID, secretB)
	require.NoError(t, err)
	_, err = account.New(client, keep).Verify(ctx, token)
	require.NoError(t, err)
	embedded.FastForward(most)
	_, _, err = account.New(client, keep).Create(ctx, "Ann", secretB, false)
	require.NoError(t, err, "a call without a token")
	_, err = account.New(client, keep).Get(ctx, bob.ID)
	require.ErrorIs(t, err, account.ErrNotFound)

	embedded.FastForward(keep)
	store := account.New(client, keep)
	for _, token := range []string{first, token} {
		_, err = store.Verify(ctx, token)
		require.ErrorIs(t, err, account.ErrBadToken)
	}
	for _, secret := range []string{secretA, secretB, ""} {
		_, _, err = store.Create(ctx, "ann", secret, false)
		require.ErrorIs(t, err, account.ErrNameTaken)
	}
	assert.ElementsMatch(t, []string{"player-name:{ann}", "player-name:{bob}"}, client.Keys(ctx, "*").Val())
}

// Ensure that an account is kept for longer at most once in a while, which
// costs a round trip, and that what fails is done again.
func TestRenew_Seldom(t *testing.T) {
	t.Parallel()
	embedded := redistest.StartMiniredis(t)
	client, ctx := redistest.NewClient(t, embedded.Addr()), t.Context()
	store := account.New(client, keep)
	ann, _, err := store.Create(ctx, "Ann", secretA, false)
	require.NoError(t, err)
	embedded.SetError("LOADING")
	require.ErrorContains(t, store.Renew(ctx, ann.ID), "LOADING")
	embedded.SetError("")
	embedded.FastForward(time.Hour)
	require.NoError(t, store.Renew(ctx, ann.ID))
	assert.Equal(t, keep, client.PTTL(ctx, "player:{"+ann.ID+"}").Val())
	embedded.FastForward(time.Hour)
	require.NoError(t, store.Renew(ctx, ann.ID))
	assert.Equal(t, keep-time.Hour, client.PTTL(ctx, "player:{"+ann.ID+"}").Val())
	_ = client.Close()
	require.NoError(t, store.Renew(ctx, ann.ID, "no id"))
	require.NoError(t, account.New(client, 0).Renew(ctx, ann.ID), "for ever")
}

// Ensure that accounts that were made when none lapsed do so from a rebuild on,
// and no others sooner or later than before.
func TestLapseAll(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		ctx := t.Context()
		old, _, err := account.New(client, 0).Create(ctx, "Old", secretA, false)
		require.NoError(t, err)
		recent, _, err := account.New(client, time.Hour).Create(ctx, "Recent", secretA, false)
		require.NoError(t, err)
		require.NoError(t, account.New(client, 0).Reserve(ctx, old.ID, id.New(), 1))
		ttl := func(p account.Player) time.Duration { return client.PTTL(ctx, "player:{"+p.ID+"}").Val() }
		require.EqualValues(t, -1, ttl(old))
		require.NoError(t, account.New(client, 0).LapseAll(ctx))
		require.EqualValues(t, -1, ttl(old))
		for range 2 {
			require.NoError(t, account.New(client, keep).LapseAll(ctx))
		}
		assert.Greater(t, ttl(old), keep-time.Hour)
		assert.LessOrEqual(t, ttl(recent), time.Hour)
		assert.EqualValues(t, -1, client.PTTL(ctx, "player:{"+old.ID+"}:open").Val())
		assert.EqualValues(t, -1, client.PTTL(ctx, "player-name:{old}").Val())
	})
}
