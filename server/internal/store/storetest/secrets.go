package storetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Secrets tests the contract of store.Secrets.
func Secrets(t *testing.T, open Open) {
	t.Run("the first proposal is the secret", func(t *testing.T) {
		s := open(t)
		first, second := []byte("\x00\xff first\n"), []byte("second")
		for _, proposed := range [][]byte{first, second, nil, first} {
			secret, err := s.Secrets.Secret(t.Context(), "page", proposed)
			require.NoError(t, err)
			assert.Equal(t, first, secret)
		}
		secret, err := s.Secrets.Secret(t.Context(), "other", second)
		require.NoError(t, err)
		assert.Equal(t, second, secret)
	})
	t.Run("concurrent callers get the same secret", func(t *testing.T) {
		s := open(t)
		var (
			group sync.WaitGroup
			mu    sync.Mutex
			told  = map[string]bool{}
		)
		for i := range byte(16) {
			group.Go(func() {
				secret, err := s.Secrets.Secret(t.Context(), "page", []byte{i})
				if assert.NoError(t, err) {
					mu.Lock()
					defer mu.Unlock()
					told[string(secret)] = true
				}
			})
		}
		group.Wait()
		assert.Len(t, told, 1)
	})
	t.Run("calls end when their context does", func(t *testing.T) {
		s := open(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := s.Secrets.Secret(ctx, "page", []byte("secret"))
		assert.ErrorIs(t, err, context.Canceled)
	})
}

// SecretsLast tests the clock-dependent part of the contract of store.Secrets.
func SecretsLast(t *testing.T, open OpenClock) {
	t.Run("a secret never expires", func(t *testing.T) {
		s, forward := open(t)
		first := []byte("first")
		_, err := s.Secrets.Secret(t.Context(), "page", first)
		require.NoError(t, err)
		forward(10 * 365 * 24 * time.Hour)
		secret, err := s.Secrets.Secret(t.Context(), "page", []byte("second"))
		require.NoError(t, err)
		assert.Equal(t, first, secret)
	})
}
