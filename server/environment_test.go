package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/usage"
	"github.com/gridstand/gridstand/server/app"
)

func TestCheckEnvironment(t *testing.T) {
	t.Parallel()
	config := app.DefaultConfig()
	flags := flagSet(&config)
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
		unknown, err := checkEnvironment(flags, tt.environ)
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

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"abc", "abc", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"kitten", "sitting", 3},
		{"flaw", "lawn", 2},
		{"ab", "ba", 2},
	} {
		assert.Equal(t, tt.want, distance(tt.a, tt.b), "%s, %s", tt.a, tt.b)
		assert.Equal(t, tt.want, distance(tt.b, tt.a), "%s, %s", tt.b, tt.a)
	}
}

// Ensure that a misspelt variable ends the program before it serves, and that an
// unknown one is warned about in the server's log.
func TestRun_Environment(t *testing.T) {
	t.Setenv("GRIDSTAND_THEME", "dark")
	assert.Regexp(t, "level=WARN .* id=variable-unknown variable=GRIDSTAND_THEME\n", startProcess(t).output())

	t.Setenv("GRIDSTAND_LISTENN", ":1")
	code, _, stderr := call(t, "--listen", "127.0.0.1:0")
	assert.Equal(t, exitUsage, code)
	assert.Equal(t, "gridstand-server: GRIDSTAND_LISTENN is no variable of gridstand-server; did you mean GRIDSTAND_LISTEN?\n", stderr)
}
