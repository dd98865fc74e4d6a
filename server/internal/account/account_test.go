package account_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/internal/testkit/testmain"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/invalid"
)

func TestMain(m *testing.M) { testmain.Run(m, redistest.StillDialing) }

// keep is how long accounts are kept.
const keep = 90 * 24 * time.Hour

const (
	secretA = "aaaaaaaaaaaaaaaaaaaaaaaaaa"
	secretB = "bbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// Ensure that everything here runs on a cluster, on which no script may touch
// two slots.
func TestCluster(t *testing.T) {
	t.Parallel()
	client := redistest.StartCluster(t, 1).Client()
	store, ctx := account.New(client, keep), t.Context()
	ann, _, err := store.Create(ctx, "Ann", secretA, false)
	require.NoError(t, err)
	bob, _, err := store.Create(ctx, "Bob", secretA, false)
	require.NoError(t, err)
	token, err := store.Rotate(ctx, ann.ID, secretB)
	require.NoError(t, err)
	_, err = store.Verify(ctx, token)
	require.NoError(t, err)
	require.NoError(t, store.Reserve(ctx, ann.ID, id.New(), 1))
	require.ErrorIs(t, store.Reserve(ctx, ann.ID, id.New(), 1), account.ErrTooManyGames)

	players, err := account.New(client, keep).Players(ctx, []string{ann.ID, bob.ID})
	require.NoError(t, err)
	assert.Equal(t, map[string]account.Player{ann.ID: ann, bob.ID: bob}, players)
}

func TestStore_Create(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		store, ctx := account.New(client, keep), t.Context()

		ann, token, err := store.Create(ctx, "Ann-1_. x", secretA, false)
		require.NoError(t, err)
		assert.True(t, id.Valid(ann.ID))
		assert.Equal(t, "Ann-1_. x", ann.Name)
		assert.False(t, ann.Bot)
		assert.WithinDuration(t, time.Now(), ann.Created, time.Minute)
		assert.Equal(t, ann.ID+"."+secretA, token)
		assert.EqualValues(t, -1, client.TTL(ctx, "player-name:{ann-1_. x}").Val(), "held for good")

		// The same call again, also on another server: the same player.
		again, token2, err := account.New(client, keep).Create(ctx, "ANN-1_. X", secretA, true)
		require.NoError(t, err)
		assert.Equal(t, ann, again)
		assert.Equal(t, token, token2)

		// The name with another secret, in any case, is another player's.
		for _, secret := range []string{secretB, ""} {
			_, _, err = store.Create(ctx, "ann-1_. X", secret, false)
			require.ErrorIs(t, err, account.ErrNameTaken)
		}

		bot, token, err := store.Create(ctx, "Robot", "", true)
		require.NoError(t, err)
		assert.True(t, bot.Bot)
		verified, err := store.Verify(ctx, token)
		require.NoError(t, err)
		assert.Equal(t, bot, verified)
		assert.Len(t, token, 26+1+26)
	})
}

// Ensure that what is no name and no secret is refused before Redis is asked.
func TestStore_Create_Invalid(t *testing.T) {
	t.Parallel()
	store := account.New(noRedis(t), keep)
	for _, name := range []string{
		"", " ", " a", "a ", "a\n", "a\tb", "\x1b[31m", "ä", "a/b", "a{b}", "a:b", "a\u00a0b",
		strings.Repeat("a", 25), strings.Repeat("a", 1<<20),
	} {
		_, _, err := store.Create(t.Context(), name, secretA, false)
		requireField(t, err, "name")
	}
	for _, secret := range []string{
		"a", secretA[1:], strings.ToUpper(secretA), secretA + "1", secretA + ".", strings.Repeat("a", 129),
	} {
		_, _, err := store.Create(t.Context(), "name", secret, false)
		requireField(t, err, "secret")
		_, err = store.Rotate(t.Context(), id.New(), secret)
		requireField(t, err, "secret")
		assert.NotContains(t, err.Error(), secretA)
	}
}

// Ensure that many callers who want one name at the same time get one account:
// those with the same secret share it, the others are refused.
func TestStore_Create_Concurrent(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		var (
			wg      sync.WaitGroup
			mu      sync.Mutex
			winners = map[string]int{}
			taken   atomic.Int32
		)
		for i := range 16 {
			wg.Go(func() {
				secret := strings.Repeat(string(rune('a'+i%4)), 26)
				player, _, err := account.New(client, keep).Create(t.Context(), "Ann", secret, false)
				if errors.Is(err, account.ErrNameTaken) {
					taken.Add(1)
					return
				}
				if assert.NoError(t, err) {
					mu.Lock()
					defer mu.Unlock()
					winners[player.ID]++
				}
			})
		}
		wg.Wait()
		require.Len(t, winners, 1)
		for _, n := range winners {
			assert.Equal(t, 4, n)
		}
		assert.EqualValues(t, 12, taken.Load())
	})
}

// Ensure that a call that ended after it claimed the name is finished by its
// repetition, and that it blocks the name for others for a minute at most.
func TestStore_Create_Interrupted(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		store, ctx := account.New(client, keep), t.Context()
		// What the call leaves behind when it dies: its claim and no player.
		playerID := func() string {
			player, _, err := store.Create(ctx, "Ann", secretA, false)
			require.NoError(t, err)
			require.NoError(t, client.Del(ctx, "player:{"+player.ID+"}").Err())
			require.NoError(t, client.Set(ctx, "player-name:{ann}", player.ID, time.Minute).Err())
			return player.ID
		}()

		_, _, err := account.New(client, keep).Create(ctx, "ann", secretB, false)
		require.ErrorIs(t, err, account.ErrNameTaken)
		ttl := client.TTL(ctx, "player-name:{ann}").Val()
		assert.Greater(t, ttl, time.Duration(0))

		player, token, err := account.New(client, keep).Create(ctx, "Ann", secretA, false)
		require.NoError(t, err)
		assert.Equal(t, playerID, player.ID)
		_, err = account.New(client, keep).Verify(ctx, token)
		require.NoError(t, err)
		assert.EqualValues(t, -1, client.TTL(ctx, "player-name:{ann}").Val())
	})
}

func TestStore_Create_ClaimLapses(t *testing.T) {
	t.Parallel()
	embedded := redistest.StartMiniredis(t)
	client := redistest.NewClient(t, embedded.Addr())
	require.NoError(t, client.Set(t.Context(), "player-name:{ann}", id.New(), time.Minute).Err())
	_, _, err := account.New(client, keep).Create(t.Context(), "Ann", secretA, false)
	require.ErrorIs(t, err, account.ErrNameTaken)
	embedded.FastForward(time.Minute)
	_, _, err = account.New(client, keep).Create(t.Context(), "Ann", secretA, false)
	require.NoError(t, err)
}

// Ensure that a call that hung until its claim lapsed does not leave a second
// account of the name behind.
func TestStore_Create_TooLate(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		ctx := t.Context()
		other := id.New()
		client.AddHook(afterScript{calls: 2, do: func() { // The claim, then the player.
			assert.NoError(t, client.Set(ctx, "player-name:{ann}", other, 0).Err())
		}})
		_, _, err := account.New(client, keep).Create(ctx, "Ann", secretA, false)
		require.ErrorIs(t, err, account.ErrNameTaken)
		assert.Equal(t, other, client.Get(ctx, "player-name:{ann}").Val())
		assert.Equal(t, []string{"player-name:{ann}"}, client.Keys(ctx, "*").Val())
	})
}

func TestStore_Get(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		store, ctx := account.New(client, keep), t.Context()
		ann, _, err := store.Create(ctx, "Ann", secretA, false)
		require.NoError(t, err)

		for range 2 { // From Redis, then from the cache.
			got, err := store.Get(ctx, ann.ID)
			require.NoError(t, err)
			assert.Equal(t, ann, got)
		}
		for _, unknown := range []string{"", "me", id.New(), ann.ID + "}", strings.Repeat("x", 1<<20)} {
			_, err = store.Get(ctx, unknown)
			require.ErrorIs(t, err, account.ErrNotFound)
		}

		bob, _, err := store.Create(ctx, "Bob", secretB, true)
		require.NoError(t, err)
		players, err := account.New(client, keep).Players(ctx, []string{bob.ID, id.New(), ann.ID, "no id", bob.ID})
		require.NoError(t, err)
		assert.Equal(t, map[string]account.Player{ann.ID: ann, bob.ID: bob}, players)
	})
}

// Ensure that a failure of Redis is told apart from an answer, and a context's
// end remains recognisable.
func TestStore_RedisAway(t *testing.T) {
	t.Parallel()
	server := redistest.StartMiniredis(t)
	client := redistest.NewClient(t, server.Addr())
	store, ctx := account.New(client, keep), t.Context()
	ann, token, err := store.Create(ctx, "Ann", secretA, false)
	require.NoError(t, err)
	store = account.New(client, keep)

	canceled, cancel := context.WithCancel(ctx)
	cancel()
	_, err = store.Get(canceled, ann.ID)
	require.ErrorIs(t, err, context.Canceled)

	server.SetError("LOADING")
	for name, call := range map[string]func() error{
		"Create":    func() error { _, _, err := store.Create(ctx, "Bob", "", false); return err },
		"Get":       func() error { _, err := store.Get(ctx, ann.ID); return err },
		"Verify":    func() error { _, err := store.Verify(ctx, token); return err },
		"Rotate":    func() error { _, err := store.Rotate(ctx, ann.ID, ""); return err },
		"Reserve":   func() error { return store.Reserve(ctx, ann.ID, id.New(), 1) },
		"Release":   func() error { return store.Release(ctx, ann.ID, id.New()) },
		"OpenGames": func() error { _, err := store.OpenGames(ctx, ann.ID); return err },
	} {
		err := call()
		require.ErrorContains(t, err, "LOADING", name)
		for _, own := range []error{account.ErrBadToken, account.ErrNameTaken, account.ErrNotFound, account.ErrTooManyGames} {
			assert.NotErrorIs(t, err, own, name)
		}
	}
}

// afterScript calls do once, after the given number of scripts have run.
type afterScript struct {
	calls int32
	do    func()
}

func (h afterScript) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h afterScript) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (h afterScript) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	var ran int32
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if strings.HasPrefix(cmd.Name(), "eval") && err == nil {
			if ran++; ran == h.calls {
				h.do()
			}
		}
		return err
	}
}

// noRedis is a client that fails the test when it is used.
func noRedis(t *testing.T) redis.UniversalClient {
	t.Helper()
	client := redis.NewClient(&redis.Options{Dialer: func(context.Context, string, string) (net.Conn, error) {
		t.Error("Redis was asked")
		return nil, errors.New("no Redis here")
	}})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func requireField(t *testing.T, err error, field string) {
	t.Helper()
	var e *invalid.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, field, e.Field)
}
