package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Quotas tests the contract of store.Quotas.
func Quotas(t *testing.T, open OpenClock) {
	const perMinute = 4
	t.Run("concurrent callers share a quota", func(t *testing.T) {
		s, _ := open(t)
		got := 0
		for _, wait := range allSucceed(t, 20, func(int) (time.Duration, error) {
			return s.Quotas.Take(t.Context(), "games", "ann", perMinute)
		}) {
			if wait == 0 {
				got++
			}
			assert.LessOrEqual(t, wait, time.Minute/perMinute)
		}
		assert.Equal(t, perMinute, got)
		for what, key := range map[string]string{"games": "bob", "players": "ann"} {
			wait, err := s.Quotas.Take(t.Context(), what, key, perMinute)
			require.NoError(t, err)
			assert.Zero(t, wait, "another quota is independent")
		}
	})
	t.Run("a quota refills steadily", func(t *testing.T) {
		s, forward := open(t)
		// taken uses up the quota, and returns how many uses were left and how long to
		// wait for the next.
		taken := func() (n int, wait time.Duration) {
			t.Helper()
			for {
				wait, err := s.Quotas.Take(t.Context(), "games", "ann", perMinute)
				require.NoError(t, err)
				if wait > 0 {
					return n, wait
				}
				n++
				require.LessOrEqual(t, n, perMinute)
			}
		}
		n, wait := taken()
		assert.Equal(t, perMinute, n)
		assert.InDelta(t, time.Minute/perMinute, wait, float64(time.Second))
		forward(wait + time.Millisecond)
		n, wait = taken()
		assert.Equal(t, 1, n)
		forward(wait / 2)
		n, wait = taken()
		assert.Zero(t, n, "a refused use does not count or delay the next one")
		forward(wait + time.Millisecond)
		n, _ = taken()
		assert.Equal(t, 1, n)
		forward(time.Minute/2 + time.Millisecond)
		n, _ = taken()
		assert.Equal(t, 2, n)
		forward(time.Hour)
		n, _ = taken()
		assert.Equal(t, perMinute, n)
	})
}
