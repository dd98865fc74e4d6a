// Package flags defines the flags of gridstand-server, each with its environment
// variable.
package flags

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gridstand/gridstand/internal/usage"
	"github.com/gridstand/gridstand/server"
	"github.com/gridstand/gridstand/server/limits"
)

// Add adds a flag for every setting in c. The values in c are the defaults.
func Add(flags *pflag.FlagSet, c *server.Config) {
	Listen(flags, &c.Listen)
	flags.StringVar(&c.WebOrigins, "web-origins", c.WebOrigins,
		"`origins` whose pages may make calls with a token, separated by commas; \"*\" for any; pages of every origin may make calls without a token, and the server's own page all calls")
	flags.StringVar(&c.PublicURL, "public-url", c.PublicURL,
		"`address` of the page for players, such as https://play.example; programs put it in links; if empty, they use the address that they connect to")
	Store(flags, c)
	TLSCert(flags, &c.TLSCert)
	flags.StringVar(&c.TLSKey, "tls-key", c.TLSKey, "`file` with the certificate's private key, PEM; both files are reloaded when they are replaced")
	flags.StringVar(&c.Metrics, "metrics", c.Metrics,
		"`address` for Prometheus metrics (/metrics), a health check (/healthz), a readiness check (/readyz: whether "+
			"the store would accept a move, checked without writing) and Go profiles (/debug/pprof/); must not be public; disabled if empty")
	flags.Var((*levelValue)(&c.LogLevel), "log-level", "minimum `level` to log: debug, info, warn or error")
	flags.StringVar(&c.LogFormat, "log-format", c.LogFormat,
		"`format` of the log, which goes to standard error: "+strings.Join(server.LogFormats, " or "))
	Retention(flags, c)
	flags.DurationVar(&c.MinTurnLimit, "min-turn-limit", c.MinTurnLimit, "shortest turn limit that a game may have, at most 5s")
	flags.DurationVar(&c.BotPace, "bot-pace", c.BotPace, "delay before the move of a bot, so that people can follow")
	flags.Var((*switchValue)(&c.Exhibition), "exhibition",
		"whether to show a game between bots to clients that list live games while no player moves: `on|off`")
	flags.Var((*switchValue)(&c.Reactions), "reactions", "whether watchers can react to games: `on|off`")
	flags.StringVar(&c.Daily, "daily", c.Daily, "`variants` that have a daily game, separated by commas; \"\" for none")
	flags.StringVar(&c.Proxies, "proxies", c.Proxies,
		"`addresses` and networks of trusted proxies, separated by commas; their x-forwarded-for headers name the "+
			"address that limits apply to")
	flags.DurationVar(&c.StopTimeout, "stop-timeout", c.StopTimeout, "how long a stop waits for calls in progress")
	Limits(flags, &c.Limits)
	for _, limit := range limits.Table {
		if limit.Flag != "" {
			_ = flags.MarkHidden(limit.Flag) // help limits lists it
		}
	}
	usage.NameVariables(flags, usage.Prefix)
}

// Limits adds a flag for each limit that has one.
func Limits(flags *pflag.FlagSet, l *limits.Limits) {
	for i, limit := range limits.Table {
		if limit.Flag != "" {
			flags.IntVar(&l[i], limit.Flag, l[i], limit.Usage+"; 0 for no limit")
		}
	}
}

// Listen adds --listen.
func Listen(flags *pflag.FlagSet, value *string) {
	flags.StringVar(value, "listen", *value, "`address` to serve on")
}

// Store adds --store and --data.
func Store(flags *pflag.FlagSet, c *server.Config) {
	flags.StringVar(&c.Store, "store", c.Store,
		"`where` games are kept: \"sqlite:\" is a file in --data, and sqlite:path is any other file; "+
			"\"memory\" keeps them until the server ends; "+
			"redis://user:password@host:6379/0 is a Redis, with rediss:// over TLS; "+
			"several addresses separated by commas are a cluster or, with ?master_name=…, Sentinels; "+
			"other users of this machine can read the command line, so use GRIDSTAND_STORE if the URL contains a password")
	flags.StringVar(&c.Data, "data", c.Data, "`directory` of the file with games, unless --store names another file; it is created if it does not exist")
}

// Retention adds the flags that set how long games and accounts are kept.
func Retention(flags *pflag.FlagSet, c *server.Config) {
	flags.DurationVar(&c.AbandonAfter, "abandon-after", c.AbandonAfter,
		"time without a move after which a game ends; one that only bots play is paused instead")
	flags.DurationVar(&c.KeepFinished, "keep-finished", c.KeepFinished,
		"how long finished games are kept; those on an all-time leaderboard are deleted only if "+
			"their Redis has no server for so long")
	flags.DurationVar(&c.KeepAccounts, "keep-accounts", c.KeepAccounts,
		"how long an account that makes no calls and has no stored games, or whose Redis has no server, "+
			"is kept; its name stays taken")
}

// TLSCert adds --tls-cert.
func TLSCert(flags *pflag.FlagSet, value *string) {
	flags.StringVar(value, "tls-cert", *value, "`file` with the server's certificate and its chain, PEM; without it connections are not encrypted")
}

// levelValue implements pflag.Value for a log level.
type levelValue slog.Level

func (v *levelValue) String() string { return strings.ToLower(slog.Level(*v).String()) }

// Type returns the name of the type for error messages.
func (v *levelValue) Type() string { return "level" }

// Set accepts the level names of slog.
func (v *levelValue) Set(s string) error {
	if err := (*slog.Level)(v).UnmarshalText([]byte(s)); err != nil {
		return fmt.Errorf("must be debug, info, warn or error")
	}
	return nil
}

// switchValue implements pflag.Value for a bool that is written as on or off.
type switchValue bool

func (v *switchValue) String() string {
	if *v {
		return "on"
	}
	return "off"
}

// Type returns the name of the type for error messages.
func (v *switchValue) Type() string { return "on or off" }

// Set accepts on and off.
func (v *switchValue) Set(s string) error {
	if s != "on" && s != "off" {
		return fmt.Errorf("must be on or off")
	}
	*v = s == "on"
	return nil
}
