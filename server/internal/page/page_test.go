package page

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/invalid"
)

// secrets is a store with one secret. A test can lose the secret or make reads fail.
type secrets struct {
	secret []byte
	err    error
}

func (s *secrets) Secret(_ context.Context, _ string, proposed []byte) ([]byte, error) {
	if s.err != nil {
		return nil, s.err
	}
	if s.secret == nil {
		s.secret = proposed
	}
	return s.secret, nil
}

var errFailed = errors.New("the store failed")

func requireField(t *testing.T, err error, field string) {
	t.Helper()
	var e *invalid.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, field, e.Field)
}

// Ensure that a token reveals nothing, and is valid for its query only, on all servers of the same store,
// including servers started later, but not on servers of another store.
func TestTokens(t *testing.T) {
	t.Parallel()
	stored, ctx := &secrets{}, t.Context()
	tokens, other := NewTokens(stored), NewTokens(stored)
	token, err := tokens.Seal(ctx, "query", []byte("cursor"))
	require.NoError(t, err)
	for _, tokens := range []*Tokens{tokens, other, NewTokens(stored)} {
		cursor, err := tokens.Open(ctx, "query", token)
		require.NoError(t, err)
		assert.Equal(t, "cursor", string(cursor))
	}
	again, err := tokens.Seal(ctx, "query", []byte("cursor"))
	require.NoError(t, err)
	assert.NotEqual(t, token, again)
	raw, err := base64.RawURLEncoding.DecodeString(token)
	require.NoError(t, err)
	assert.NotContains(t, string(raw), "cursor")

	_, err = tokens.Open(ctx, "other", token)
	requireField(t, err, "page_token")
	_, err = NewTokens(&secrets{}).Open(ctx, "query", token)
	requireField(t, err, "page_token")
	for i := range token { // every token that differs in one character
		for _, c := range "Ab9_=\n" {
			if altered := token[:i] + string(c) + token[i+1:]; altered != token {
				_, err := tokens.Open(ctx, "query", altered)
				requireField(t, err, "page_token")
			}
		}
	}
}

// Ensure that the first call fails if the store fails, that the next call retries, and that a known
// secret stays in use while the store is unavailable, although not every call rereads it.
func TestTokens_StoreFails(t *testing.T) {
	t.Parallel()
	stored, ctx := &secrets{err: errFailed}, t.Context()
	tokens := NewTokens(stored)
	_, err := tokens.Seal(ctx, "query", nil)
	require.ErrorIs(t, err, errFailed)
	_, err = tokens.Open(ctx, "query", strings.Repeat("A", 64))
	require.ErrorIs(t, err, errFailed)
	stored.err = nil
	token, err := tokens.Seal(ctx, "query", nil)
	require.NoError(t, err)

	stored.err = errFailed
	for range 2 {
		_, err = tokens.Open(ctx, "query", token)
		require.NoError(t, err)
		assert.True(t, tokens.sealer.Load().rereadAt.After(time.Now()))
		expire(tokens)
	}
}

// expire makes the next call read the secret again.
func expire(tokens *Tokens) {
	s := *tokens.sealer.Load()
	s.rereadAt = time.Time{}
	tokens.sealer.Store(&s)
}

// Ensure that servers agree on a secret after the store has lost it: they keep using the
// known one, unless a server that did not know it has written a new one.
func TestTokens_SecretLost(t *testing.T) {
	t.Parallel()
	stored, ctx := &secrets{}, t.Context()
	old := NewTokens(stored)
	token, err := old.Seal(ctx, "query", []byte("cursor"))
	require.NoError(t, err)

	stored.secret = nil
	expire(old)
	_, err = old.Open(ctx, "query", token)
	require.NoError(t, err)
	_, err = NewTokens(stored).Open(ctx, "query", token)
	require.NoError(t, err, "the known secret was restored")

	stored.secret = nil
	fresh := NewTokens(stored)
	token, err = fresh.Seal(ctx, "query", []byte("cursor"))
	require.NoError(t, err)
	_, err = old.Open(ctx, "query", token)
	require.Error(t, err)
	expire(old)
	_, err = old.Open(ctx, "query", token)
	require.NoError(t, err, "the new secret was read")
	assert.True(t, old.sealer.Load().rereadAt.After(time.Now()), "the secret is not due for another read")
}

// Ensure that calls that wait for the first secret return when their contexts are done, and
// share the result of the call that reads it.
func TestTokens_FirstSecret(t *testing.T) {
	t.Parallel()
	tokens := NewTokens(&secrets{})
	require.True(t, tokens.reading.TryAcquire(1)) // Pretend that a call is reading the secret.
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := tokens.Seal(ended, "query", nil)
	require.ErrorIs(t, err, context.Canceled)

	sealed := make(chan error)
	go func() {
		_, err := tokens.Seal(t.Context(), "query", nil)
		sealed <- err
	}()
	tokens.failure, tokens.failedAt = errFailed, time.Now().Add(time.Minute)
	tokens.reading.Release(1)
	require.ErrorIs(t, <-sealed, errFailed)
	tokens.failedAt = time.Time{}
	_, err = tokens.Seal(t.Context(), "query", nil)
	require.NoError(t, err)
}
