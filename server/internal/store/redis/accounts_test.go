package redis_test

import (
	"context"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/redis"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

const keepAccounts = 90 * 24 * time.Hour

// Ensure that a name is held permanently, and that an account expires.
func TestAccounts_Keys(t *testing.T) {
	t.Parallel()
	server := redistest.StartMiniredis(t)
	client, accounts := redistest.NewClient(t, server.Addr()), storetest.OnRedis(t, server.Addr()).Accounts
	ctx := t.Context()
	ann, err := accounts.Create(ctx, store.Account{ID: id.New(), Name: "Ann", Secret: "digest"}, keepAccounts)
	require.NoError(t, err)
	_, err = accounts.Reserve(ctx, ann.ID, id.New(), 1, keepAccounts)
	require.NoError(t, err)
	name, player := "player-name:{ann}", "player:{"+ann.ID+"}"
	assert.EqualValues(t, -1, client.TTL(ctx, name).Val())
	assert.Equal(t, keepAccounts, client.PTTL(ctx, player).Val())
	assert.Equal(t, keepAccounts, client.PTTL(ctx, player+":open").Val())
	server.FastForward(keepAccounts)
	assert.Equal(t, []string{name}, client.Keys(ctx, "*").Val())
	_, err = accounts.SetSecret(ctx, ann.ID, "digest")
	require.NoError(t, err)
	assert.Zero(t, client.Exists(ctx, player).Val(), "a secret alone creates no account")
}

// Ensure that RenewLasting sets an expiry on accounts only, and only on accounts that
// have none.
func TestAccounts_RenewLasting_Keys(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client goredis.UniversalClient) {
		ctx, accounts := t.Context(), on(t, client).Accounts
		lasting, err := accounts.Create(ctx, store.Account{ID: id.New(), Name: "Ann"}, 0)
		require.NoError(t, err)
		recent, err := accounts.Create(ctx, store.Account{ID: id.New(), Name: "Bob"}, time.Hour)
		require.NoError(t, err)
		_, err = accounts.Reserve(ctx, lasting.ID, id.New(), 1, 0)
		require.NoError(t, err)
		ttl := func(key string) time.Duration { return client.PTTL(ctx, key).Val() }
		require.EqualValues(t, -1, ttl("player:{"+lasting.ID+"}"))
		require.NoError(t, accounts.RenewLasting(ctx, keepAccounts))
		assert.Greater(t, ttl("player:{"+lasting.ID+"}"), keepAccounts-time.Hour)
		assert.LessOrEqual(t, ttl("player:{"+recent.ID+"}"), time.Hour)
		assert.EqualValues(t, -1, ttl("player:{"+lasting.ID+"}:open"))
		assert.EqualValues(t, -1, ttl("player-name:{ann}"))
	})
}

// Ensure that repeating a call that ended after it claimed the name completes it, and
// that the claim keeps other accounts from taking the name for at most a minute.
func TestAccounts_Create_Interrupted(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client goredis.UniversalClient) {
		ctx, accounts := t.Context(), on(t, client).Accounts
		ann := store.Account{ID: id.New(), Name: "Ann", Secret: "digest"}
		// An interrupted call leaves behind a claim without an account.
		require.NoError(t, client.Set(ctx, "player-name:{ann}", ann.ID, time.Minute).Err())

		_, err := accounts.Create(ctx, store.Account{ID: id.New(), Name: "ann"}, keepAccounts)
		require.ErrorIs(t, err, store.ErrNameHeld)
		assert.Positive(t, client.TTL(ctx, "player-name:{ann}").Val())

		created, err := accounts.Create(ctx, ann, keepAccounts)
		require.NoError(t, err)
		assert.Equal(t, ann.ID, created.ID)
		assert.EqualValues(t, -1, client.TTL(ctx, "player-name:{ann}").Val())
	})
}

// Ensure that repeating a call that ended after it wrote the account completes it, even
// if the secret has been replaced since.
func TestAccounts_Create_InterruptedLater(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client goredis.UniversalClient) {
		ctx, accounts := t.Context(), on(t, client).Accounts
		ann := store.Account{ID: id.New(), Name: "Ann", Secret: "digest"}
		_, err := accounts.Create(ctx, ann, keepAccounts)
		require.NoError(t, err)
		require.NoError(t, client.Expire(ctx, "player-name:{ann}", time.Minute).Err())
		_, err = accounts.SetSecret(ctx, ann.ID, "another")
		require.NoError(t, err)
		created, err := accounts.Create(ctx, ann, keepAccounts)
		require.NoError(t, err)
		assert.Equal(t, "another", created.Secret)
		assert.EqualValues(t, -1, client.TTL(ctx, "player-name:{ann}").Val())
	})
}

// Ensure that a name becomes free if the call that claimed it is not repeated.
func TestAccounts_Create_ClaimExpires(t *testing.T) {
	t.Parallel()
	server := redistest.StartMiniredis(t)
	client, accounts := redistest.NewClient(t, server.Addr()), storetest.OnRedis(t, server.Addr()).Accounts
	ctx, ann := t.Context(), store.Account{ID: id.New(), Name: "Ann"}
	require.NoError(t, client.Set(ctx, "player-name:{ann}", id.New(), time.Minute).Err())
	_, err := accounts.Create(ctx, ann, keepAccounts)
	require.ErrorIs(t, err, store.ErrNameHeld)
	server.FastForward(time.Minute)
	_, err = accounts.Create(ctx, ann, keepAccounts)
	require.NoError(t, err)
}

// Ensure that a call that hung until its claim expired does not leave behind a second
// account with the same name.
func TestAccounts_Create_TooLate(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client goredis.UniversalClient) {
		ctx, other := t.Context(), id.New()
		hooked := redistest.NewClient(t, addrOf(t, client))
		hooked.AddHook(afterScript{calls: 2, do: func() { // The first script that runs claims the name, the second writes the account.
			assert.NoError(t, client.Set(ctx, "player-name:{ann}", other, 0).Err())
		}})
		s, err := redis.New(redis.Clients{Appends: hooked, Calls: hooked, Background: hooked, Once: hooked})
		require.NoError(t, err)
		_, err = s.Accounts.Create(ctx, store.Account{ID: id.New(), Name: "Ann"}, keepAccounts)
		require.ErrorIs(t, err, store.ErrNameHeld)
		assert.Equal(t, other, client.Get(ctx, "player-name:{ann}").Val())
		assert.Equal(t, []string{"player-name:{ann}"}, client.Keys(ctx, "*").Val())
	})
}

// Ensure that an unreadable account is not mistaken for a missing one.
func TestAccounts_Corrupt(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client goredis.UniversalClient) {
		ctx, accounts := t.Context(), on(t, client).Accounts
		for _, fields := range [][]any{
			{"name", "Ann"},
			{"name", "Ann", "secret", "digest", "bot", "0", "created", "today"},
		} {
			player := id.New()
			require.NoError(t, client.HSet(ctx, "player:{"+player+"}", fields...).Err())
			_, err := accounts.Get(ctx, []string{player})
			var failed *store.Error
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, store.Corrupt, failed.Kind)
		}
	})
}

// Ensure that every error from Redis is returned as a *store.Error.
func TestAccounts_Failed(t *testing.T) {
	t.Parallel()
	server := redistest.StartMiniredis(t)
	accounts := storetest.OnRedis(t, server.Addr()).Accounts
	server.SetError("LOADING")
	for name, err := range storetest.CallAccounts(t.Context(), accounts) {
		var failed *store.Error
		if assert.ErrorAs(t, err, &failed, name) {
			assert.Equal(t, store.Kind("loading"), failed.Kind, name)
		}
	}
}

// on returns a store that uses the same Redis server as client.
func on(t *testing.T, client goredis.UniversalClient) *store.Store {
	t.Helper()
	return storetest.OnRedis(t, addrOf(t, client))
}

func addrOf(t *testing.T, client goredis.UniversalClient) string {
	t.Helper()
	single, ok := client.(*goredis.Client)
	require.True(t, ok)
	return single.Options().Addr
}

// afterScript is a hook that calls do once, after the given number of scripts have
// succeeded.
type afterScript struct {
	calls int32
	do    func()
}

func (h afterScript) DialHook(next goredis.DialHook) goredis.DialHook { return next }

func (h afterScript) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return next
}

func (h afterScript) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	var ran int32
	return func(ctx context.Context, cmd goredis.Cmder) error {
		err := next(ctx, cmd)
		if strings.HasPrefix(cmd.Name(), "eval") && err == nil {
			if ran++; ran == h.calls {
				h.do()
			}
		}
		return err
	}
}
