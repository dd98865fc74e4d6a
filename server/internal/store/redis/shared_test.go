package redis_test

import (
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// Ensure that a quota's key is gone once the quota is full again.
func TestQuotas_Expire(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client goredis.UniversalClient) {
		_, err := on(t, client).Quotas.Take(t.Context(), "games", "ann", 3)
		require.NoError(t, err)
		ttl := client.TTL(t.Context(), "rate:games:ann").Val()
		assert.Positive(t, ttl)
		assert.LessOrEqual(t, ttl, 61*time.Second)
	})
}

// Ensure that the key of a secret remains compatible with other releases.
func TestSecrets_Key(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client goredis.UniversalClient) {
		_, err := on(t, client).Secrets.Secret(t.Context(), "page", []byte("secret"))
		require.NoError(t, err)
		assert.Equal(t, "secret", client.Get(t.Context(), "games:page-secret").Val())
		assert.EqualValues(t, -1, client.TTL(t.Context(), "games:page-secret").Val())
	})
}

// Ensure that the entries of games that have ended or paused do not accumulate.
func TestExhibitions_Set(t *testing.T) {
	t.Parallel()
	server := redistest.StartMiniredis(t)
	client, exhibitions := redistest.NewClient(t, server.Addr()), storetest.OnRedis(t, server.Addr()).Exhibitions
	now, ctx := time.Now(), t.Context()
	server.SetTime(now)
	count := func() int64 { return client.ZCard(ctx, "exhibitions").Val() }
	run := func(gameID string) {
		_, err := exhibitions.Run(ctx, store.Exhibition{GameIDs: []string{gameID}, PlayerID: "ann"}, time.Minute, store.ExhibitionLimits{})
		require.NoError(t, err)
	}
	run("a")
	run("b")
	run("b")
	assert.EqualValues(t, 2, count())
	require.NoError(t, exhibitions.End(ctx, "a"))
	assert.EqualValues(t, 1, count())
	server.SetTime(now.Add(time.Minute))
	run("c")
	assert.EqualValues(t, 1, count())
}

// Ensure that every error from Redis is returned as a *store.Error.
func TestShared_Failed(t *testing.T) {
	t.Parallel()
	server := redistest.StartMiniredis(t)
	s, ctx := storetest.OnRedis(t, server.Addr()), t.Context()
	server.SetError("LOADING")
	var failed *store.Error
	_, err := s.Quotas.Take(ctx, "games", "ann", 1)
	require.ErrorAs(t, err, &failed)
	_, err = s.Secrets.Secret(ctx, "page", nil)
	require.ErrorAs(t, err, &failed)
	_, err = s.Exhibitions.Left(ctx, "a")
	require.ErrorAs(t, err, &failed)
	_, err = s.Exhibitions.Run(ctx, store.Exhibition{}, time.Hour, store.ExhibitionLimits{})
	require.ErrorAs(t, err, &failed)
	require.ErrorAs(t, s.Exhibitions.End(ctx, "a"), &failed)
}
