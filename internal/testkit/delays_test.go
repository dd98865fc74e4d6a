package testkit_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	delaystest "github.com/gridstand/gridstand/internal/testkit/delays"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// Ensure that delays are measured.
func TestDelays_Measure(t *testing.T) {
	t.Parallel()
	d := delaystest.Measure(t)
	require.Eventually(t, func() bool { return d.Allowance() > 0 }, waittest.Patience, time.Millisecond)
}
