package account

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/invalid"
)

// Ensure that only one signature is verified at a time, and that a call which waits for its
// turn ends with its context.
func TestKeys_VerifiesOneAtATime(t *testing.T) {
	t.Parallel()
	keys := NewKeys(nil, New(nil, time.Hour))
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, keys.verifying.Acquire(t.Context(), 1))
	_, err := keys.Add(canceled, "a", "no signature", "")
	require.ErrorIs(t, err, context.Canceled)
	keys.verifying.Release(1)
	_, err = keys.Add(t.Context(), "a", "no signature", "")
	var field *invalid.Error
	require.ErrorAs(t, err, &field)
	assert.True(t, keys.verifying.TryAcquire(1))
}
