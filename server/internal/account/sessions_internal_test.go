package account

import (
	"context"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
)

type storedSessions = store.Sessions

// noSessions is a store without sessions.
type noSessions struct{ storedSessions }

func (noSessions) End(context.Context, string, string) (bool, error) { return false, nil }

// Ensure that ending a session does not cost more the more tokens the server has verified: it counts as one
// read. The test is not parallel, so that nothing else allocates memory.
func TestSessions_EndCost(t *testing.T) {
	s := NewSessions(noSessions{}, nil)
	for i := range cacheSize {
		s.verified.Add(digestOf(strconv.Itoa(i)), verifiedToken{})
	}
	const calls = 10
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range calls {
		require.ErrorIs(t, s.End(t.Context(), "player", "session"), ErrSessionNotFound)
	}
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(calls*10_000))
}
