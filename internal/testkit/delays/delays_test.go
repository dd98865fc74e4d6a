package delaystest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestMeasure(t *testing.T) {
	t.Parallel()
	d := Measure(t)
	require.Eventually(t, func() bool { return d.Allowance() > 0 }, 5*time.Minute, time.Millisecond)
}
