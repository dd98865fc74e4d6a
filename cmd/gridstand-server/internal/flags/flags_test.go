package flags

import (
	"log/slog"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/usage"
	"github.com/gridstand/gridstand/server"
	"github.com/gridstand/gridstand/server/limits"
)

// other holds a value for each flag that is not its default. The limits follow
// in init.
var other = map[string]string{
	"listen": "localhost:1", "web": "localhost:2", "web-origins": "https://a.example", "data": "d", "store": "redis://r", "redis": "redis://r", "tls-cert": "c", "tls-key": "k", "tls-client-ca": "a", "metrics": ":9",
	"pprof": "true", "log-level": "debug", "log-format": "json", "keepalive": "1m",
	"abandon-after": "1h", "waiting-for": "3h", "min-turn-limit": "1s", "bot-pace": "0s", "exhibition": "off", "keep-finished": "2h", "keep-accounts": "5h",
	"proxies": "10.0.0.0/8", "reflection": "false", "stop-timeout": "3s", "idle": "4s", "pause-after": "6s", "stall": "5s",
}

var otherConfig = server.Config{
	Listen: "localhost:1", Web: "localhost:2", WebOrigins: "https://a.example", Store: "redis://r", Data: "d", TLSCert: "c", TLSKey: "k", TLSClientCA: "a", Metrics: ":9",
	Pprof: true, LogLevel: slog.LevelDebug, LogFormat: "json", Keepalive: time.Minute,
	AbandonAfter: time.Hour, WaitingFor: 3 * time.Hour, MinTurnLimit: time.Second, KeepFinished: 2 * time.Hour, KeepAccounts: 5 * time.Hour,
	Proxies: "10.0.0.0/8", Reflection: false, StopTimeout: 3 * time.Second, Idle: 4 * time.Second, PauseAfter: 6 * time.Second, Stall: 5 * time.Second,
}

func init() {
	for i, limit := range limits.Table {
		other[limit.Flag] = strconv.Itoa(i + 1)
		*limit.Of(&otherConfig.Limits) = i + 1
	}
}

func flagSet(c *server.Config) *pflag.FlagSet {
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	Add(flags, c)
	return flags
}

func TestFlags_Defaults(t *testing.T) {
	t.Parallel()
	defaults := server.DefaultConfig()
	flags := flagSet(&defaults)

	// What help calls the defaults, set on a Config that has none.
	var fresh server.Config
	again := flagSet(&fresh)
	flags.VisitAll(func(f *pflag.Flag) { require.NoError(t, again.Set(f.Name, f.DefValue), f.Name) })
	assert.Equal(t, server.DefaultConfig(), fresh)
}

func TestFlags_EverySetting(t *testing.T) {
	t.Parallel()
	config := server.DefaultConfig()
	flags := flagSet(&config)
	flags.VisitAll(func(f *pflag.Flag) { assert.Contains(t, other, f.Name) })
	for name, value := range other {
		require.NoError(t, flags.Set(name, value), name)
	}
	assert.Equal(t, otherConfig, config)

	defaults, changed := reflect.ValueOf(server.DefaultConfig()), reflect.ValueOf(config)
	for i := range defaults.NumField() {
		switch name := defaults.Type().Field(i).Name; name {
		case "OnlyUptime", "Listener", "Logger", "Now": // for programs, not for flags
		default:
			assert.NotEqual(t, defaults.Field(i).Interface(), changed.Field(i).Interface(), "no flag sets %s", name)
		}
	}
}

func TestReadEnvironment(t *testing.T) {
	t.Parallel()
	environment := func(pairs map[string]string) func(string) (string, bool) {
		return func(name string) (string, bool) {
			value, ok := pairs[name]
			return value, ok
		}
	}

	t.Run("every flag", func(t *testing.T) {
		t.Parallel()
		variables := map[string]string{}
		for name, value := range other {
			variables["GRIDSTAND_"+strings.ToUpper(strings.ReplaceAll(name, "-", "_"))] = value
		}
		config := server.DefaultConfig()
		require.NoError(t, ReadEnvironment(flagSet(&config), environment(variables)))
		assert.Equal(t, otherConfig, config)
	})

	t.Run("a flag wins", func(t *testing.T) {
		t.Parallel()
		config := server.DefaultConfig()
		flags := flagSet(&config)
		require.NoError(t, flags.Parse([]string{"--listen", ":1"}))
		require.NoError(t, ReadEnvironment(flags, environment(map[string]string{
			"GRIDSTAND_LISTEN": ":2", "GRIDSTAND_REDIS": "redis://r",
		})))
		assert.Equal(t, ":1", config.Listen)
		assert.Equal(t, "redis://r", config.Store)
	})

	t.Run("a flag wins over its synonym", func(t *testing.T) {
		t.Parallel()
		config := server.DefaultConfig()
		flags := flagSet(&config)
		require.NoError(t, flags.Parse([]string{"--store", "memory"}))
		require.NoError(t, ReadEnvironment(flags, environment(map[string]string{"GRIDSTAND_REDIS": "redis://r"})))
		assert.Equal(t, "memory", config.Store)
	})

	t.Run("empty is not set", func(t *testing.T) {
		t.Parallel()
		config := server.DefaultConfig()
		require.NoError(t, ReadEnvironment(flagSet(&config), environment(map[string]string{"GRIDSTAND_LISTEN": "", "GRIDSTAND_PPROF": ""})))
		assert.Equal(t, server.DefaultConfig(), config)
	})

	t.Run("wrong", func(t *testing.T) {
		t.Parallel()
		config := server.DefaultConfig()
		err := ReadEnvironment(flagSet(&config), environment(map[string]string{"GRIDSTAND_LOG_LEVEL": "loud"}))
		var wrong *usage.Error
		require.ErrorAs(t, err, &wrong)
		assert.EqualError(t, err, `GRIDSTAND_LOG_LEVEL: must be debug, info, warn or error, not "loud"`)
		err = ReadEnvironment(flagSet(&config), environment(map[string]string{"GRIDSTAND_REFLECTION": "maybe"}))
		assert.EqualError(t, err, `GRIDSTAND_REFLECTION must be true or false, not "maybe"`)
		err = ReadEnvironment(flagSet(&config), environment(map[string]string{
			"GRIDSTAND_STORE": "redis://:sesame@r", "GRIDSTAND_REDIS": "redis://:opensesame@r",
		}))
		assert.EqualError(t, err, "GRIDSTAND_STORE: names another store than --redis (GRIDSTAND_REDIS); give only one of them")
	})
}

func TestStore(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"--store redis://a":                   "redis://a",
		"--redis redis://a":                   "redis://a",
		"--redis embedded":                    "memory",
		"--store memory --redis embedded":     "memory",
		"--store redis://a --redis redis://a": "redis://a",
		"--store redis://b --store redis://a": "redis://a",
		"--redis redis://b --redis redis://a": "redis://a",
	} {
		config := server.DefaultConfig()
		require.NoError(t, flagSet(&config).Parse(strings.Fields(line)), line)
		assert.Equal(t, want, config.Store, line)
	}
	config := server.DefaultConfig()
	err := usage.Flag(nil, flagSet(&config).Parse([]string{"--redis", "redis://:sesame@a", "--store", "memory"}))
	assert.EqualError(t, err, "--store: names another store than --redis (GRIDSTAND_REDIS); give only one of them")
}
