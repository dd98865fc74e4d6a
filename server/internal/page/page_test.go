package page_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/page"
)

func TestSize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int32]int{0: 50, 1: 1, 199: 199, 200: 200, 201: 200, 1 << 30: 200} {
		size, err := page.Size(n)
		require.NoError(t, err)
		assert.Equal(t, want, size)
	}
	_, err := page.Size(-1)
	requireField(t, err, "page_size")
}

func TestTokens(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		tokens, ctx := page.NewTokens(client), t.Context()
		token, err := tokens.Seal(ctx, "query", []byte("cursor"))
		require.NoError(t, err)
		cursor, err := tokens.Open(ctx, "query", token)
		require.NoError(t, err)
		assert.Equal(t, "cursor", string(cursor))

		// It shows nothing, not even that two of them lead to the same place.
		again, err := tokens.Seal(ctx, "query", []byte("cursor"))
		require.NoError(t, err)
		assert.NotEqual(t, token, again)
		raw, err := base64.RawURLEncoding.DecodeString(token)
		require.NoError(t, err)
		assert.NotContains(t, string(raw), "cursor")

		_, err = tokens.Open(ctx, "other", token)
		requireField(t, err, "page_token")
		for i := range token { // altered
			for _, c := range "Ab9_=\n" {
				if altered := token[:i] + string(c) + token[i+1:]; altered != token {
					_, err := tokens.Open(ctx, "query", altered)
					requireField(t, err, "page_token")
				}
			}
		}
		for _, s := range []string{"", "a", "x y", token[:8], token + "A", token + "\n", strings.Repeat("A", 1<<20)} {
			_, err := tokens.Open(ctx, "query", s)
			requireField(t, err, "page_token")
		}
	})
}

// Ensure that any server opens the tokens of any other on the same Redis, also
// of one that ended, and of none on another Redis.
func TestTokens_AnyServer(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		ctx := t.Context()
		one, other := page.NewTokens(client), page.NewTokens(client)
		token, err := one.Seal(ctx, "query", []byte("cursor"))
		require.NoError(t, err)
		for _, tokens := range []*page.Tokens{one, other, page.NewTokens(client)} {
			cursor, err := tokens.Open(ctx, "query", token)
			require.NoError(t, err)
			assert.Equal(t, "cursor", string(cursor))
		}

		elsewhere := page.NewTokens(redistest.NewClient(t, redistest.StartMiniredis(t).Addr()))
		_, err = elsewhere.Open(ctx, "query", token)
		requireField(t, err, "page_token")
	})
}

// Ensure that the first call fails if Redis does, and the next one tries again.
func TestTokens_RedisAway(t *testing.T) {
	t.Parallel()
	embedded := redistest.StartMiniredis(t)
	tokens, ctx := page.NewTokens(redistest.NewClient(t, embedded.Addr())), t.Context()
	embedded.SetError("LOADING")
	_, err := tokens.Seal(ctx, "query", nil)
	require.ErrorContains(t, err, "LOADING")
	_, err = tokens.Open(ctx, "query", strings.Repeat("A", 64))
	require.ErrorContains(t, err, "LOADING")
	embedded.SetError("")
	token, err := tokens.Seal(ctx, "query", nil)
	require.NoError(t, err)
	embedded.SetError("LOADING") // Not asked again.
	_, err = tokens.Open(ctx, "query", token)
	require.NoError(t, err)
}

func requireField(t *testing.T, err error, field string) {
	t.Helper()
	var e *invalid.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, field, e.Field)
}
