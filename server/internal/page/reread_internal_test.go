package page

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// secrets is a store with one secret. A test can lose the secret or make reads fail.
type secrets struct {
	secret []byte
	err    error
}

func (s *secrets) Secret(_ context.Context, _ string, proposed []byte) ([]byte, error) {
	if s.secret == nil {
		s.secret = proposed
	}
	return s.secret, s.err
}

// Ensure that servers agree on a secret after the store has lost it: they keep using the
// known one, unless a server that did not know it has written a new one.
func TestTokens_SecretLost(t *testing.T) {
	t.Parallel()
	stored, ctx := &secrets{}, t.Context()
	old := NewTokens(stored)
	token, err := old.Seal(ctx, "query", []byte("cursor"))
	require.NoError(t, err)
	aged := func() {
		s := *old.sealer.Load()
		s.rereadAt = s.rereadAt.Add(-2 * rereadAfter)
		old.sealer.Store(&s)
	}

	stored.secret = nil
	aged()
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
	aged()
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

	failed := errors.New("the store is unavailable")
	sealed := make(chan error)
	go func() {
		_, err := tokens.Seal(t.Context(), "query", nil)
		sealed <- err
	}()
	tokens.failure, tokens.failedAt = failed, time.Now().Add(time.Minute)
	tokens.reading.Release(1)
	require.ErrorIs(t, <-sealed, failed)
	tokens.failedAt = time.Time{}
	_, err = tokens.Seal(t.Context(), "query", nil)
	require.NoError(t, err)
}

// Ensure that a known secret stays in use while the store is unavailable, and that not
// every call rereads it.
func TestTokens_StoreUnavailable(t *testing.T) {
	t.Parallel()
	stored, ctx := &secrets{}, t.Context()
	tokens := NewTokens(stored)
	token, err := tokens.Seal(ctx, "query", []byte("cursor"))
	require.NoError(t, err)
	stored.err = errors.New("the store is unavailable")
	old := *tokens.sealer.Load()
	old.rereadAt = time.Time{}
	tokens.sealer.Store(&old)
	_, err = tokens.Open(ctx, "query", token)
	require.NoError(t, err)
	assert.True(t, tokens.sealer.Load().rereadAt.After(time.Now()))
}
