package storetest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Secrets tests the contract of store.Secrets: the first proposal is the secret of all callers.
func Secrets(t *testing.T, open Open) {
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
}
