package help

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"

	"github.com/gridstand/gridstand/cmd/gridstand-server/internal/flags"
	"github.com/gridstand/gridstand/server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFlags(t *testing.T) {
	t.Parallel()
	config := server.DefaultConfig()
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags.Add(set, &config)
	help := Flags(set)
	assert.Contains(t, help, "  --listen address  (default :2048; GRIDSTAND_LISTEN)\n        address to serve on\n")
	assert.Contains(t, help, "  --abandon-after duration  (default 168h; GRIDSTAND_ABANDON_AFTER)\n")
	assert.Contains(t, help, "  --tls-cert file  (default none; GRIDSTAND_TLS_CERT)\n")
	assert.Contains(t, help, "  --pprof  (default false; GRIDSTAND_PPROF)\n")
	for line := range strings.Lines(help) {
		if strings.HasPrefix(line, "   ") {
			assert.LessOrEqual(t, len([]rune(line)), 81, line)
		}
	}
	set.VisitAll(func(f *pflag.Flag) {
		assert.Equal(t, !f.Hidden, strings.Contains(help, "--"+f.Name+" "), f.Name)
		assert.NotEmpty(t, f.Usage, f.Name)
	})
}

func TestShorten(t *testing.T) {
	t.Parallel()
	for long, short := range map[string]string{
		"168h0m0s": "168h", "1h30m0s": "1h30m", "10m0s": "10m", "30s": "30s", "1h0m5s": "1h0m5s", "": "", "info": "info",
	} {
		assert.Equal(t, short, shorten(long))
	}
}
