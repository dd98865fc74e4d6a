package usage_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/usage"
)

func TestCheckEnvironment(t *testing.T) {
	t.Parallel()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	for _, name := range []string{"listen", "max-moves-per-second", "metrics", "store"} {
		flags.String(name, "", "")
	}
	usage.NameVariables(flags, usage.Prefix)
	flags.Bool("version", false, "")
	for name, tt := range map[string]struct {
		environ, unknown []string
		meant            string // the variable that the error suggests
	}{
		"nothing of ours":   {environ: []string{"HOME=/", "GRIDSTAND_LISTENN=", "GRIDSTANDS_X=1", "MY_GRIDSTAND_STORE=1"}},
		"a flag's":          {environ: []string{"GRIDSTAND_STORE=redis://r", "GRIDSTAND_MAX_MOVES_PER_SECOND="}},
		"the client's":      {environ: []string{"GRIDSTAND_SERVER=a,b"}},
		"the SSH host's":    {environ: []string{"GRIDSTAND_SSH_HOST_KEY=key", "GRIDSTAND_SSH_IDLE_TIMEOUT=1m"}},
		"compose's":         {environ: []string{"GRIDSTAND_PORT=2048", "GRIDSTAND_SSH_SUBNET=10.0.0.0/24"}},
		"an orchestrator's": {environ: []string{"GRIDSTAND_SERVICE_HOST=10.0.0.1", "GRIDSTAND_PORT_2048_TCP_ADDR=10.0.0.1", "GRIDSTAND_STORE_SERVICE_PORT=6379", "GRIDSTAND_SSE_PORT=2048"}},
		"unknown": {
			environ: []string{"GRIDSTAND_THEME=dark", "GRIDSTAND_STORE=memory", "GRIDSTAND_COLOUR=no"},
			unknown: []string{"GRIDSTAND_COLOUR", "GRIDSTAND_THEME"},
		},
		"only a beginning":    {environ: []string{"GRIDSTAND_MAX=1"}, unknown: []string{"GRIDSTAND_MAX"}},
		"a letter too many":   {environ: []string{"GRIDSTAND_STOREE=redis://r"}, meant: "GRIDSTAND_STORE"},
		"two letters swapped": {environ: []string{"GRIDSTAND_METRCIS=:1"}, meant: "GRIDSTAND_METRICS"},
		"like the client's":   {environ: []string{"GRIDSTAND_SERVR=a"}, meant: "GRIDSTAND_SERVER"},
		"like the SSH host's": {environ: []string{"GRIDSTAND_SSH_HOSTKEY=a"}, meant: "GRIDSTAND_SSH_HOST_KEY"},
	} {
		unknown, err := usage.CheckEnvironment(tt.environ, flags)
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
	for name, tt := range map[string]struct {
		args, variables string
		want            string // the flags' values, or the error
	}{
		"nothing set":                {"", "", "listen=:1 store= idle=1h0m0s"},
		"a variable":                 {"", "IDLE=5m", "listen=:1 store= idle=5m0s"},
		"an empty variable is unset": {"", "LISTEN= IDLE=", "listen=:1 store= idle=1h0m0s"},
		"a flag without a variable":  {"", "VERSION=true", "listen=:1 store= idle=1h0m0s"},
		"a flag wins":                {"--listen=:2", "LISTEN=:3 STORE=r", "listen=:2 store=r idle=1h0m0s"},
		"an invalid value":           {"", "IDLE=5 STORE=r", `GRIDSTAND_IDLE must be a duration such as 30s, 5m or 2h, not "5"`},
	} {
		flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
		listen, store := flags.String("listen", ":1", ""), flags.String("store", "", "")
		idle := flags.Duration("idle", time.Hour, "")
		usage.NameVariables(flags, usage.Prefix)
		flags.Bool("version", false, "")
		require.NoError(t, flags.Parse(strings.Fields(tt.args)))
		err := usage.ReadEnvironment(flags, func(name string) string {
			for _, variable := range strings.Fields(tt.variables) {
				if known, value, _ := strings.Cut(usage.Prefix+variable, "="); known == name {
					return value
				}
			}
			return ""
		})
		if err != nil {
			var wrong *usage.Error
			require.ErrorAs(t, err, &wrong, name)
			assert.EqualError(t, err, tt.want, name)
			continue
		}
		assert.Equal(t, tt.want, fmt.Sprintf("listen=%s store=%s idle=%v", *listen, *store, *idle), name)
	}
}
