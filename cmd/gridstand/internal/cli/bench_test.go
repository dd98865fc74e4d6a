package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/load"
)

// Ensure that the report describes the faults of a misbehaving server.
func TestBenchReport(t *testing.T) {
	t.Parallel()
	text := conclusion(&load.Report{
		Watchers: 1, Gaps: 1, Lost: 2000, Unfinished: 3, Skipped: 3, Reconnects: 1, Left: 1, Rate: 100, MovesPerSecond: 50,
	})
	for _, want := range []string{
		"FAULTS: 1 gap, 0 repeats, 2,000 events lost, 3 games not watched to the end.\n", "3 events skipped", "1 stream reconnected", "1 game could not be", "100 moves/s were requested",
	} {
		assert.Contains(t, text, want)
	}
	var out strings.Builder
	p := newUser(t, "", "ada").program(&out, nil)
	require.NoError(t, p.printErrors([]load.ErrorCount{
		{Call: "Move", Code: "ResourceExhausted", Reason: "RATE_LIMITED", Message: "slowly", Count: 1234, Advice: "raise it"},
		{Call: "Watch", Code: "Unavailable", Message: "away\x1b", Count: 1},
	}))
	assert.Equal(t, `
REFUSED  WHY           TIMES
Move     RATE_LIMITED  1,234  raise it
Watch    Unavailable       1  away
`, out.String())
}
