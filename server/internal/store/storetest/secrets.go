package storetest

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Secrets tests the contract of store.Secrets.
func Secrets(t *testing.T, open Open) {
	t.Run("the first proposal is the secret of all callers", func(t *testing.T) {
		s := open(t)
		var (
			group sync.WaitGroup
			mu    sync.Mutex
			told  = map[string]bool{}
		)
		for i := range byte(16) {
			group.Go(func() {
				secret, err := s.Secrets.Secret(t.Context(), "page", []byte{i, 0, 0xff, '\n'})
				if assert.NoError(t, err) {
					mu.Lock()
					defer mu.Unlock()
					told[string(secret)] = true
				}
			})
		}
		group.Wait()
		require.Len(t, told, 1)
		for _, proposed := range [][]byte{[]byte("later"), nil} {
			secret, err := s.Secrets.Secret(t.Context(), "page", proposed)
			require.NoError(t, err)
			assert.Contains(t, told, string(secret))
		}
		secret, err := s.Secrets.Secret(t.Context(), "other", []byte("other"))
		require.NoError(t, err)
		assert.Equal(t, "other", string(secret))
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
