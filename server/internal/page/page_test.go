package page_test

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
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
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		tokens, ctx := page.NewTokens(s.Secrets), t.Context()
		token, err := tokens.Seal(ctx, "query", []byte("cursor"))
		require.NoError(t, err)
		cursor, err := tokens.Open(ctx, "query", token)
		require.NoError(t, err)
		assert.Equal(t, "cursor", string(cursor))

		// Ensure that tokens do not reveal whether they have the same cursor.
		again, err := tokens.Seal(ctx, "query", []byte("cursor"))
		require.NoError(t, err)
		assert.NotEqual(t, token, again)
		raw, err := base64.RawURLEncoding.DecodeString(token)
		require.NoError(t, err)
		assert.NotContains(t, string(raw), "cursor")

		_, err = tokens.Open(ctx, "other", token)
		requireField(t, err, "page_token")
		for i := range token { // every token that differs in one character
			for _, c := range "Ab9_=\n" {
				if altered := token[:i] + string(c) + token[i+1:]; altered != token {
					_, err := tokens.Open(ctx, "query", altered)
					requireField(t, err, "page_token")
				}
			}
		}
		for _, other := range []string{"", "a", "x y", token[:8], token + "A", token + "\n", strings.Repeat("A", 1<<20)} {
			_, err := tokens.Open(ctx, "query", other)
			requireField(t, err, "page_token")
		}
	})
}

// Ensure that tokens are valid on all servers of the same store, including servers started
// later, but not on servers of another store.
func TestTokens_AnyServer(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		one, other := page.NewTokens(s.Secrets), page.NewTokens(s.Secrets)
		token, err := one.Seal(ctx, "query", []byte("cursor"))
		require.NoError(t, err)
		for _, tokens := range []*page.Tokens{one, other, page.NewTokens(s.Secrets)} {
			cursor, err := tokens.Open(ctx, "query", token)
			require.NoError(t, err)
			assert.Equal(t, "cursor", string(cursor))
		}

		elsewhere := page.NewTokens(storetest.New(t).Secrets)
		_, err = elsewhere.Open(ctx, "query", token)
		requireField(t, err, "page_token")
	})
}

// Ensure that the first call fails if the store fails, and that the next call retries.
func TestTokens_StoreFails(t *testing.T) {
	t.Parallel()
	secrets := &failing{Secrets: storetest.New(t).Secrets, err: errFailed}
	tokens, ctx := page.NewTokens(secrets), t.Context()
	_, err := tokens.Seal(ctx, "query", nil)
	require.ErrorIs(t, err, errFailed)
	_, err = tokens.Open(ctx, "query", strings.Repeat("A", 64))
	require.ErrorIs(t, err, errFailed)
	secrets.err = nil
	token, err := tokens.Seal(ctx, "query", nil)
	require.NoError(t, err)
	secrets.err = errFailed // Fail all reads, to ensure that the secret is not reread.
	_, err = tokens.Open(ctx, "query", token)
	require.NoError(t, err)
}

var errFailed = errors.New("the store failed")

// failing is a store of secrets that fails while err is set.
type failing struct {
	store.Secrets
	err error
}

func (f *failing) Secret(ctx context.Context, name string, proposed []byte) ([]byte, error) {
	if f.err != nil {
		return nil, f.err
	}
	return f.Secrets.Secret(ctx, name, proposed)
}

func requireField(t *testing.T, err error, field string) {
	t.Helper()
	var e *invalid.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, field, e.Field)
}
