package usage_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/usage"
)

func TestCheckEnvironment(t *testing.T) {
	t.Parallel()
	known := []string{"GRIDSTAND_LISTEN", "GRIDSTAND_MAX_OPEN_GAMES", "GRIDSTAND_METRICS", "GRIDSTAND_REDIS"}
	for name, tt := range map[string]struct {
		environ, unknown []string
		meant            string // for a misspelling
	}{
		"nothing of ours":   {environ: []string{"HOME=/", "GRIDSTAND_LISTENN=", "GRIDSTANDS_X=1", "MY_GRIDSTAND_REDIS=1"}},
		"a flag's":          {environ: []string{"GRIDSTAND_REDIS=redis://r", "GRIDSTAND_MAX_OPEN_GAMES="}},
		"the client's":      {environ: []string{"GRIDSTAND_SERVER=a,b"}},
		"compose's":         {environ: []string{"GRIDSTAND_PORT=2048"}},
		"an orchestrator's": {environ: []string{"GRIDSTAND_SERVICE_HOST=10.0.0.1", "GRIDSTAND_PORT_2048_TCP_ADDR=10.0.0.1", "GRIDSTAND_REDIS_SERVICE_PORT=6379"}},
		"unknown": {
			environ: []string{"GRIDSTAND_THEME=dark", "GRIDSTAND_REDIS=embedded", "GRIDSTAND_COLOUR=no"},
			unknown: []string{"GRIDSTAND_COLOUR", "GRIDSTAND_THEME"},
		},
		"a letter too many":   {environ: []string{"GRIDSTAND_REDISS=redis://r"}, meant: "GRIDSTAND_REDIS"},
		"a letter missing":    {environ: []string{"GRIDSTAND_LISTN=:1"}, meant: "GRIDSTAND_LISTEN"},
		"two letters swapped": {environ: []string{"GRIDSTAND_METRCIS=:1"}, meant: "GRIDSTAND_METRICS"},
		"like compose's":      {environ: []string{"GRIDSTAND_HOST=a"}, unknown: []string{"GRIDSTAND_HOST"}},
	} {
		unknown, err := usage.CheckEnvironment("gridstand-server", tt.environ, known)
		if tt.meant != "" {
			var wrong *usage.Error
			require.ErrorAs(t, err, &wrong, name)
			assert.ErrorContains(t, err, "did you mean "+tt.meant+"?", name)
			continue
		}
		require.NoError(t, err, name)
		assert.Equal(t, tt.unknown, unknown, name)
	}
}
