package usage_test

import (
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/usage"
)

func TestCheckEnvironment(t *testing.T) {
	t.Parallel()
	known := []string{"GRIDSTAND_LISTEN", "GRIDSTAND_MAX_OPEN_GAMES", "GRIDSTAND_METRICS", "GRIDSTAND_REDIS", "GRIDSTAND_WEB"}
	for name, tt := range map[string]struct {
		environ, unknown []string
		meant            string // the variable that the error suggests
	}{
		"nothing of ours":   {environ: []string{"HOME=/", "GRIDSTAND_LISTENN=", "GRIDSTANDS_X=1", "MY_GRIDSTAND_REDIS=1"}},
		"a flag's":          {environ: []string{"GRIDSTAND_REDIS=redis://r", "GRIDSTAND_MAX_OPEN_GAMES="}},
		"the client's":      {environ: []string{"GRIDSTAND_SERVER=a,b"}},
		"the SSH host's":    {environ: []string{"GRIDSTAND_SSH_HOST_KEY=key", "GRIDSTAND_SSH_IDLE_TIMEOUT=1m"}},
		"compose's":         {environ: []string{"GRIDSTAND_PORT=2048", "GRIDSTAND_SSH_SUBNET=10.0.0.0/24"}},
		"an orchestrator's": {environ: []string{"GRIDSTAND_SERVICE_HOST=10.0.0.1", "GRIDSTAND_PORT_2048_TCP_ADDR=10.0.0.1", "GRIDSTAND_REDIS_SERVICE_PORT=6379", "GRIDSTAND_SSE_PORT=2048"}},
		"unknown": {
			environ: []string{"GRIDSTAND_THEME=dark", "GRIDSTAND_REDIS=embedded", "GRIDSTAND_COLOUR=no"},
			unknown: []string{"GRIDSTAND_COLOUR", "GRIDSTAND_THEME"},
		},
		"a letter too many":   {environ: []string{"GRIDSTAND_REDISS=redis://r"}, meant: "GRIDSTAND_REDIS"},
		"a letter missing":    {environ: []string{"GRIDSTAND_LISTN=:1"}, meant: "GRIDSTAND_LISTEN"},
		"two letters swapped": {environ: []string{"GRIDSTAND_METRCIS=:1"}, meant: "GRIDSTAND_METRICS"},
		"a short name":        {environ: []string{"GRIDSTAND_WBE=:1"}, meant: "GRIDSTAND_WEB"},
		"two other letters":   {environ: []string{"GRIDSTAND_HOST=play.example"}, meant: "GRIDSTAND_PORT"},
		"like the client's":   {environ: []string{"GRIDSTAND_SERVR=a"}, meant: "GRIDSTAND_SERVER"},
		"like compose's":      {environ: []string{"GRIDSTAND_POTR=1"}, meant: "GRIDSTAND_PORT"},
		"like the SSH host's": {environ: []string{"GRIDSTAND_SSH_HOSTKEY=a"}, meant: "GRIDSTAND_SSH_HOST_KEY"},
	} {
		unknown, err := usage.CheckEnvironment(tt.environ, known)
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

// Ensure that variables set flags, unless the command line sets them.
func TestReadEnvironment(t *testing.T) {
	t.Parallel()
	type settings struct {
		listen, store, redis string
		idle                 time.Duration
	}
	defaults := settings{listen: ":1", idle: time.Hour}
	for name, tt := range map[string]struct {
		args      []string
		variables map[string]string
		want      settings
		err       string
	}{
		"nothing set":                  {want: defaults},
		"a variable":                   {variables: map[string]string{"GRIDSTAND_SSH_IDLE": "5m"}, want: settings{listen: ":1", idle: 5 * time.Minute}},
		"an empty variable is unset":   {variables: map[string]string{"GRIDSTAND_LISTEN": "", "GRIDSTAND_SSH_IDLE": ""}, want: defaults},
		"a flag without a variable":    {variables: map[string]string{"": "x", "GRIDSTAND_VERSION": "x"}, want: defaults},
		"a flag wins":                  {args: []string{"--listen=:2"}, variables: map[string]string{"GRIDSTAND_LISTEN": ":3", "GRIDSTAND_REDIS": "r"}, want: settings{listen: ":2", redis: "r", idle: time.Hour}},
		"a flag wins over its synonym": {args: []string{"--store=a"}, variables: map[string]string{"GRIDSTAND_REDIS": "b"}, want: settings{listen: ":1", store: "a", idle: time.Hour}},
		"an invalid value":             {variables: map[string]string{"GRIDSTAND_SSH_IDLE": "5", "GRIDSTAND_REDIS": "r"}, err: `GRIDSTAND_SSH_IDLE must be a duration such as 30s, 5m or 2h, not "5"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := defaults
			flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
			flags.StringVar(&got.listen, "listen", got.listen, "")
			flags.StringVar(&got.store, "store", got.store, "")
			flags.StringVar(&got.redis, "redis", got.redis, "")
			flags.DurationVar(&got.idle, "idle", got.idle, "")
			flags.Bool("version", false, "")
			for flag, variable := range map[string]string{"listen": "LISTEN", "store": "STORE", "redis": "REDIS", "idle": "SSH_IDLE"} {
				usage.SetVariable(flags.Lookup(flag), usage.Prefix+variable)
			}
			usage.SetSynonyms(flags.Lookup("store"), flags.Lookup("redis"))
			require.NoError(t, flags.Parse(tt.args))

			err := usage.ReadEnvironment(flags, func(name string) string { return tt.variables[name] })
			if tt.err == "" {
				require.NoError(t, err)
				assert.Equal(t, tt.want, got)
				return
			}
			var wrong *usage.Error
			require.ErrorAs(t, err, &wrong)
			assert.EqualError(t, err, tt.err)
		})
	}
}
