// Package flags has the flags of gridstand-server, each with its environment
// variable.
package flags

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/gridstand/gridstand/internal/usage"
	"github.com/gridstand/gridstand/server"
	"github.com/gridstand/gridstand/server/limits"
)

// Add adds a flag for every setting of c, which holds the defaults.
func Add(flags *pflag.FlagSet, c *server.Config) {
	Listen(flags, &c.Listen)
	flags.StringVar(&c.Web, "web", c.Web,
		"`address` to serve browsers on (HTTP: the page, Connect, Server-Sent Events); if empty, the port of --listen; "+
			"\""+server.NoWeb+"\" for none")
	flags.StringVar(&c.WebOrigins, "web-origins", c.WebOrigins,
		"`origins` whose pages may make calls with a token, separated by commas, \"*\" for any; pages of every origin may read, and those of this server do everything")
	Store(flags, &c.Store)
	Data(flags, &c.Data)
	TLSCert(flags, &c.TLSCert)
	flags.StringVar(&c.TLSKey, "tls-key", c.TLSKey, "`file` with the certificate's private key, PEM; both files are reloaded when they are replaced")
	flags.StringVar(&c.TLSClientCA, "tls-client-ca", c.TLSClientCA,
		"`file` with certificate authorities, PEM; clients must present a certificate from one of them; if empty, any client may connect")
	Metrics(flags, &c.Metrics)
	flags.BoolVar(&c.Pprof, "pprof", c.Pprof, "serve Go profiles on the metrics address (/debug/pprof/)")
	flags.Var((*levelValue)(&c.LogLevel), "log-level", "minimum `level` to log: debug, info, warn or error")
	flags.StringVar(&c.LogFormat, "log-format", c.LogFormat,
		"`format` of the log, which goes to standard error: "+strings.Join(server.LogFormats, " or "))
	flags.DurationVar(&c.Keepalive, "keepalive", c.Keepalive,
		"idle time after which a connection is probed, and closed if it is dead; 0 for never")
	AbandonAfter(flags, &c.AbandonAfter)
	flags.DurationVar(&c.WaitingFor, "waiting-for", c.WaitingFor, "time after which a game that still waits for players ends")
	flags.DurationVar(&c.MinTurnLimit, "min-turn-limit", c.MinTurnLimit, "shortest turn limit that a game may have, at most 5s")
	flags.DurationVar(&c.BotPace, "bot-pace", c.BotPace, "delay before the move of a bot, so that people can follow")
	flags.Var((*switchValue)(&c.Exhibition), "exhibition",
		"whether to show a game between bots to clients who look for live games while none moves: `on|off`")
	KeepFinished(flags, &c.KeepFinished)
	KeepAccounts(flags, &c.KeepAccounts)
	flags.StringVar(&c.Proxies, "proxies", c.Proxies,
		"`addresses` and networks of trusted proxies, separated by commas; their x-forwarded-for headers name the "+
			"address that limits count")
	flags.BoolVar(&c.Reflection, "reflection", c.Reflection, "let tools such as grpcurl list the services")
	flags.DurationVar(&c.StopTimeout, "stop-timeout", c.StopTimeout, "how long a stop waits for calls in progress")
	// For tests, which need shorter times.
	flags.DurationVar(&c.Idle, "idle", c.Idle, "how long a game without players and watchers stays in memory")
	flags.DurationVar(&c.PauseAfter, "pause-after", c.PauseAfter, "how long a game that only bots play continues after a client last read it")
	flags.DurationVar(&c.Stall, "stall", c.Stall, "how long a watcher may take to read a message")
	for _, hidden := range []string{"idle", "pause-after", "stall"} {
		_ = flags.MarkHidden(hidden) // It is there.
	}
	for _, limit := range limits.Table {
		value := limit.Of(&c.Limits)
		flags.IntVar(value, limit.Flag, *value, limit.Usage+"; 0 for no limit")
	}
	NameVariables(flags)
}

// Listen adds --listen.
func Listen(flags *pflag.FlagSet, value *string) {
	flags.StringVar(value, "listen", *value, "`address` to serve on")
}

// Store adds --store, and --redis, its name in earlier versions.
func Store(flags *pflag.FlagSet, value *string) {
	var by string
	flags.Var(&storeValue{"store", value, &by}, "store",
		"`where` games are kept: \"sqlite:\" is a file in --data, and sqlite:path another one; "+
			"\"memory\" keeps them until the server ends; "+
			"redis://[user:password@]host[:port][/database] is a Redis, with rediss:// over TLS; "+
			"several addresses separated by commas are a cluster, or Sentinels with ?master_name=…; "+
			"other users of this machine can read the command line, so use the variable if there is a password")
	flags.Var(&storeValue{"redis", value, &by}, "redis", "earlier name of --store, says `where`, too; \"embedded\" stands for \"memory\"")
	_ = flags.SetAnnotation("store", synonym, []string{"redis"}) // They are there.
	_ = flags.SetAnnotation("redis", synonym, []string{"store"})
}

// Data adds --data.
func Data(flags *pflag.FlagSet, value *string) {
	flags.StringVar(value, "data", *value, "`directory` of the file with games, if --store names no other one; it is created if it does not exist")
}

// storeValue is the name of a store as a flag. Two flags share value.
type storeValue struct {
	flag  string
	value *string
	// by is the flag that set value, empty for its default.
	by *string
}

func (v *storeValue) String() string {
	if v.value == nil || v.flag == "redis" {
		return ""
	}
	return *v.value
}

// Type tells usage.Value not to print the value, which may have a password.
func (v *storeValue) Type() string { return usage.Secret }

// Set refuses another store than that of the other flag.
func (v *storeValue) Set(s string) error {
	switch {
	case s == "":
		return nil
	case v.flag == "redis" && s == "embedded":
		s = server.Memory
	}
	if *v.by != "" && *v.by != v.flag && *v.value != s {
		return fmt.Errorf("names another store than --%s (%s); give only one of them", *v.by, Variable(*v.by))
	}
	*v.value, *v.by = s, v.flag
	return nil
}

// AbandonAfter adds --abandon-after.
func AbandonAfter(flags *pflag.FlagSet, value *time.Duration) {
	flags.DurationVar(value, "abandon-after", *value, "time without a move after which a game ends; one that only bots play is paused instead")
}

// KeepFinished adds --keep-finished.
func KeepFinished(flags *pflag.FlagSet, value *time.Duration) {
	flags.DurationVar(value, "keep-finished", *value,
		"how long finished games are kept; those on an all-time leaderboard stay")
}

// KeepAccounts adds --keep-accounts.
func KeepAccounts(flags *pflag.FlagSet, value *time.Duration) {
	flags.DurationVar(value, "keep-accounts", *value,
		"how long an account without calls and without kept games is kept; its name stays taken")
}

// TLSCert adds --tls-cert.
func TLSCert(flags *pflag.FlagSet, value *string) {
	flags.StringVar(value, "tls-cert", *value, "`file` with the server's certificate and its chain, PEM; without it nothing is encrypted")
}

// Metrics adds --metrics.
func Metrics(flags *pflag.FlagSet, value *string) {
	flags.StringVar(value, "metrics", *value,
		"`address` for Prometheus metrics (/metrics), a health check (/healthz) and a "+
			"readiness check (/readyz: whether the store would accept a move, checked without writing); not for the public; none if empty")
}

// Variable is the environment variable of a flag.
func Variable(flag string) string {
	return usage.Prefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// withVariable marks the flags that have a variable, and synonym names another flag
// that sets the same.
const (
	withVariable = "variable"
	synonym      = "synonym"
)

// HasVariable reports whether a flag can be set by its environment variable.
func HasVariable(f *pflag.Flag) bool {
	_, ok := f.Annotations[withVariable]
	return ok
}

// Variables returns the environment variables of the flags.
func Variables(flags *pflag.FlagSet) (variables []string) {
	flags.VisitAll(func(f *pflag.Flag) {
		if HasVariable(f) {
			variables = append(variables, Variable(f.Name))
		}
	})
	return variables
}

// NameVariables lets each of the flags be set by its environment variable; see
// ReadEnvironment.
func NameVariables(flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		_ = flags.SetAnnotation(f.Name, withVariable, nil) // It is there.
	})
}

// ReadEnvironment sets flags that are not on the command line, nor a synonym, from
// their variables. An empty variable counts as not set.
func ReadEnvironment(flags *pflag.FlagSet, lookup func(string) (string, bool)) error {
	var wrong error
	flags.VisitAll(func(f *pflag.Flag) {
		if !HasVariable(f) || f.Changed || slices.ContainsFunc(f.Annotations[synonym], flags.Changed) || wrong != nil {
			return
		}
		value, _ := lookup(Variable(f.Name))
		if value == "" {
			return
		}
		if err := f.Value.Set(value); err != nil {
			wrong = usage.Value(Variable(f.Name), f, value, err)
		}
	})
	return wrong
}

// levelValue is a log level as a flag.
type levelValue slog.Level

func (v *levelValue) String() string { return strings.ToLower(slog.Level(*v).String()) }

// Type names the value in errors.
func (v *levelValue) Type() string { return "level" }

// Set accepts the names of slog's levels.
func (v *levelValue) Set(s string) error {
	if err := (*slog.Level)(v).UnmarshalText([]byte(s)); err != nil {
		return fmt.Errorf("must be debug, info, warn or error")
	}
	return nil
}

// switchValue is a bool as a flag that is on or off.
type switchValue bool

func (v *switchValue) String() string {
	if *v {
		return "on"
	}
	return "off"
}

// Type names the value in errors.
func (v *switchValue) Type() string { return "on or off" }

// Set accepts on and off.
func (v *switchValue) Set(s string) error {
	if s != "on" && s != "off" {
		return fmt.Errorf("must be on or off")
	}
	*v = s == "on"
	return nil
}
