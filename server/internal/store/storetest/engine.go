package storetest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Engine tests the contract of store.Engine.
func Engine(t *testing.T, open Open) {
	t.Run("ping", func(t *testing.T) {
		s := open(t)
		assert.NotEmpty(t, s.Name())
		require.NoError(t, s.Ping(t.Context()))
		require.NoError(t, s.Background.Ping(t.Context()))
	})
	t.Run("time does not go back", func(t *testing.T) {
		s := open(t)
		first, err := s.Time(t.Context())
		require.NoError(t, err)
		second, err := s.Background.Time(t.Context())
		require.NoError(t, err)
		assert.False(t, second.Before(first))
		requireRecent(t, s, second)
	})
	t.Run("calls end when their context does", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for name, err := range Calls(ctx, open(t)) {
			assert.ErrorIs(t, err, context.Canceled, name)
		}
	})
}
