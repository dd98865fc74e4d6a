package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Secrets tests the contract of store.Secrets.
func Secrets(t *testing.T, open Open) {
	t.Run("the first proposal is the secret of all callers", func(t *testing.T) {
		s := open(t)
		told := allSucceed(t, 16, func(i int) ([]byte, error) {
			return s.Secrets.Secret(t.Context(), "page", []byte{byte(i), 0, 0xff, '\n'})
		})
		for _, secret := range told {
			assert.Equal(t, told[0], secret)
		}
		for _, proposed := range [][]byte{[]byte("later"), nil} {
			secret, err := s.Secrets.Secret(t.Context(), "page", proposed)
			require.NoError(t, err)
			assert.Equal(t, told[0], secret)
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
