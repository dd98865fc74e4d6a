package cli

import (
	"log/slog"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/cmd/gridstand-server/internal/flags"
	"github.com/gridstand/gridstand/internal/usage"
	"github.com/gridstand/gridstand/server"
	"github.com/gridstand/gridstand/server/limits"
)

// other contains a non-default value for each flag. init adds the limits.
var other = map[string]string{
	"listen": "localhost:1", "web-origins": "https://a.example", "public-url": "https://b.example", "data": "d", "store": "redis://r", "tls-cert": "c", "tls-key": "k", "metrics": ":9",
	"log-level": "debug", "log-format": "json",
	"abandon-after": "1h", "min-turn-limit": "1s", "bot-pace": "0s", "exhibition": "off", "reactions": "off", "daily": "vt100", "keep-finished": "2h", "keep-accounts": "5h",
	"proxies": "10.0.0.0/8", "stop-timeout": "3s",
}

var otherConfig = server.Config{
	Listen: "localhost:1", WebOrigins: "https://a.example", PublicURL: "https://b.example", Store: "redis://r", Data: "d", TLSCert: "c", TLSKey: "k", Metrics: ":9",
	LogLevel: slog.LevelDebug, LogFormat: "json",
	AbandonAfter: time.Hour, Daily: "vt100", MinTurnLimit: time.Second, KeepFinished: 2 * time.Hour, KeepAccounts: 5 * time.Hour,
	Proxies: "10.0.0.0/8", StopTimeout: 3 * time.Second, Stall: time.Minute,
}

func init() {
	for i, limit := range limits.Table {
		if limit.Flag == "" {
			otherConfig.Limits[i] = limit.Default
			continue
		}
		other[limit.Flag] = strconv.Itoa(i + 1)
		otherConfig.Limits[i] = i + 1
	}
}

func flagSet(c *server.Config) *pflag.FlagSet {
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags.Add(set, c)
	return set
}

func TestFlags_Defaults(t *testing.T) {
	t.Parallel()
	defaults := server.DefaultConfig()
	set := flagSet(&defaults)

	// Apply the default of each flag, as shown in the help, to a zero Config.
	fresh := server.Config{Stall: server.DefaultConfig().Stall} // without a flag
	for i, limit := range limits.Table {
		if limit.Flag == "" {
			fresh.Limits[i] = limit.Default
		}
	}
	again := flagSet(&fresh)
	set.VisitAll(func(f *pflag.Flag) { require.NoError(t, again.Set(f.Name, f.DefValue), f.Name) })
	assert.Equal(t, server.DefaultConfig(), fresh)
}

func TestFlags_EverySetting(t *testing.T) {
	t.Parallel()
	config := server.DefaultConfig()
	set := flagSet(&config)
	set.VisitAll(func(f *pflag.Flag) { assert.Contains(t, other, f.Name) })
	for name, value := range other {
		require.NoError(t, set.Set(name, value), name)
	}
	assert.Equal(t, otherConfig, config)

	defaults, changed := reflect.ValueOf(server.DefaultConfig()), reflect.ValueOf(config)
	for i := range defaults.NumField() {
		switch name := defaults.Type().Field(i).Name; name {
		case "LoopbackOnly", "Listener", "Stall", "Logger", "StoreNow": // set by programs, without flags
		default:
			assert.NotEqual(t, defaults.Field(i).Interface(), changed.Field(i).Interface(), "no flag sets %s", name)
		}
	}
}

// Ensure that every flag has a variable, and that a client does not take it for its own.
func TestFlags_Variables(t *testing.T) {
	t.Parallel()
	config := server.DefaultConfig()
	flagSet(&config).VisitAll(func(f *pflag.Flag) {
		variable := usage.Variable(f)
		assert.NotEmpty(t, variable, f.Name)
		_, err := usage.CheckEnvironment([]string{variable + "=1"}, pflag.NewFlagSet("client", pflag.ContinueOnError))
		assert.NoError(t, err)
	})
}
