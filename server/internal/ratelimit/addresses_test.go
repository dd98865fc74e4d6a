package ratelimit_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/server/internal/ratelimit"
)

// Ensure that an address's count cannot exceed the limit, and that the address keeps the same
// value until the count drops to 0.
func TestAddresses(t *testing.T) {
	t.Parallel()
	made := 0
	addresses := ratelimit.NewAddresses(func(string) int { made++; return made })
	enter := func(address string, limit int) int {
		value, ok := addresses.Enter(address, limit)
		assert.Equal(t, ok, value != 0)
		return value
	}
	assert.Equal(t, 1, enter("one", 2))
	assert.Equal(t, 1, enter("one", 2))
	assert.Zero(t, enter("one", 2), "over the limit")
	assert.Equal(t, 1, enter("one", 0), "no limit")
	assert.Equal(t, 2, enter("other", 2))
	assert.Equal(t, 2, addresses.Len())
	for range 3 {
		addresses.Leave("one")
	}
	addresses.Leave("other")
	assert.Zero(t, addresses.Len())
	assert.Equal(t, 3, enter("one", 1))
}
