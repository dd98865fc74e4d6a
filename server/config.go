// Package server is a whole Gridstand server as a library: Config says how it runs,
// Start starts it, Run serves until its context ends. The program gridstand-server,
// gridstand play --local and tests run it.
package server

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adrg/xdg"

	"github.com/gridstand/gridstand/server/internal/ratelimit"
	"github.com/gridstand/gridstand/server/internal/web"
	"github.com/gridstand/gridstand/server/limits"
)

// Memory is the value of Config.Store for a store that is gone when the server ends.
const Memory = "memory"

// NoWeb is the value of Config.Web for a server that speaks only gRPC.
const NoWeb = "off"

// File is the value of Config.Store for a file. An empty path is a file in Config.Data.
func File(path string) string { return fileScheme + path }

const fileScheme = "sqlite:"

// LogFormats are the values of Config.LogFormat.
var LogFormats = []string{"text", "json"}

// Config says how a server runs. Its first part has a field for each flag of
// the program, which describes it; start from DefaultConfig.
type Config struct {
	// Listen is the TCP address to serve on. Port 0 takes a free one.
	Listen string
	// Web is where HTTP is served, for browsers: empty for the port of Listen, NoWeb for
	// nowhere, or a TCP address of its own.
	Web string
	// WebOrigins are the origins whose pages may make calls with a token, separated by
	// commas; "*" is any. Those of the server's own pages always may.
	WebOrigins string
	// Store names where games are kept: a File, Memory, or a redis:// or rediss:// URL,
	// or several of them separated by commas.
	Store string
	// Data is the directory of the file that File("") stands for.
	Data string
	// TLSCert and TLSKey are PEM files; both are empty for no encryption. They
	// are read again when they are replaced.
	TLSCert, TLSKey string
	// TLSClientCA is a PEM file with the authorities of clients, who need a
	// certificate then; empty for none.
	TLSClientCA string
	// Metrics is the TCP address for metrics, empty for none.
	Metrics string
	// Pprof offers profiles on the Metrics address.
	Pprof bool
	// LogLevel and LogFormat make the log on standard error.
	LogLevel  slog.Level
	LogFormat string
	// Keepalive is the idle time after which a connection is probed, 0 for never.
	Keepalive time.Duration
	// AbandonAfter is the time without a move after which a game ends.
	AbandonAfter time.Duration
	// WaitingFor is the time after which a game that waits for players ends.
	WaitingFor time.Duration
	// OnlyUptime has those two count only the time in which a server ran on the store,
	// for a machine that is turned off.
	OnlyUptime bool
	// MinTurnLimit is the shortest time for a move that games may have. The
	// default is as high as it can be.
	MinTurnLimit time.Duration
	// BotPace is how long a bot waits before it moves.
	BotPace time.Duration
	// Exhibition has servers show a game between bots to clients who look for live games
	// while none moves. Each server decides for itself whether to start it.
	Exhibition bool
	// KeepFinished is how long finished games are kept.
	KeepFinished time.Duration
	// KeepAccounts is how long an account without a game or a call is kept. Its
	// name stays taken.
	KeepAccounts time.Duration
	// Proxies are trusted to name the address of a call: addresses and networks
	// separated by commas, empty for none.
	Proxies string
	// Limits bound what clients may do.
	Limits limits.Limits
	// Reflection lets tools list the services.
	Reflection bool
	// StopTimeout bounds how long a stop waits for calls in progress.
	StopTimeout time.Duration
	// Idle is how long a game without players and watchers stays in memory: long
	// enough for a player who thinks, and for a client that reconnects. Servers
	// on one store need the same, since it bounds what they know of a store that
	// went back in time.
	Idle time.Duration
	// PauseAfter is how long a game between bots alone goes on after the last
	// Watch or GetGame. Servers on one store need the same.
	PauseAfter time.Duration
	// Stall is how long a watcher may take to read a message before the stream is
	// ended, and its connection as much later.
	Stall time.Duration

	// Listener is served on in place of Listen, if it is set. The server
	// closes it.
	Listener net.Listener
	// Logger takes the place of the one that LogLevel and LogFormat make, if
	// it is set.
	Logger *slog.Logger
	// Now is the local wall clock, time.Now if it is nil. It guesses which
	// leaderboards are current; the store's clock decides that and everything else.
	Now func() time.Time
}

// DefaultConfig returns the configuration of the program without flags.
func DefaultConfig() Config {
	return Config{
		Listen:       ":2048",
		Store:        File(""),
		Data:         stateDirectory(),
		LogLevel:     slog.LevelInfo,
		LogFormat:    "text",
		Keepalive:    30 * time.Second,
		AbandonAfter: 7 * 24 * time.Hour,
		WaitingFor:   24 * time.Hour,
		MinTurnLimit: maxTurnFloor,
		BotPace:      700 * time.Millisecond,
		Exhibition:   true,
		KeepFinished: 30 * 24 * time.Hour,
		KeepAccounts: 90 * 24 * time.Hour,
		Limits:       limits.Default(),
		Reflection:   true,
		StopTimeout:  10 * time.Second,
		Idle:         time.Minute,
		PauseAfter:   time.Minute,
		Stall:        time.Minute,
	}
}

// stateDirectory returns where servers of this user keep their file, empty if the
// environment names no home of a user.
func stateDirectory() string {
	if _, err := os.UserHomeDir(); err != nil && os.Getenv("XDG_STATE_HOME") == "" {
		return ""
	}
	return filepath.Join(xdg.StateHome, "gridstand", "server")
}

// Unlimited returns c without limits, except on the size of messages, for loads and
// tests: all their calls come from one address.
func (c Config) Unlimited() Config {
	c.Limits = limits.Limits{MessageBytes: c.Limits.MessageBytes}
	return c
}

// keepOutages is how long to know when no server ran, zero for as long as clocks need
// that.
func (c *Config) keepOutages() time.Duration {
	if c.OnlyUptime {
		return 10 * 365 * 24 * time.Hour // some ten outages a day
	}
	return 0
}

// ConfigError says which value of a Config cannot be used, and why.
type ConfigError struct {
	// Flag that sets the value, without dashes.
	Flag string
	Err  error
}

func (e *ConfigError) Error() string { return "--" + e.Flag + ": " + e.Err.Error() }

// Unwrap returns the reason alone.
func (e *ConfigError) Unwrap() error { return e.Err }

func wrong(flag, format string, args ...any) error {
	return &ConfigError{Flag: flag, Err: fmt.Errorf(format, args...)}
}

// minKeepalive is the shortest that gRPC takes.
const minKeepalive = time.Second

// maxTurnFloor is the highest that MinTurnLimit can be: the contract lets games
// have a turn limit of five seconds on every server.
const maxTurnFloor = 5 * time.Second

// validate returns a *ConfigError for the first value that is wrong in itself.
// It does not check files, such as certificates.
func (c *Config) validate() error {
	if c.Listener == nil {
		if err := checkAddress(c.Listen); err != nil {
			return &ConfigError{"listen", err}
		}
	}
	if c.webAddress() != "" {
		if err := checkAddress(c.Web); err != nil {
			return &ConfigError{"web", fmt.Errorf("must be empty, %s or an address: %w", NoWeb, err)}
		}
	}
	if c.Metrics != "" {
		if err := checkAddress(c.Metrics); err != nil {
			return &ConfigError{"metrics", err}
		}
	}
	if _, err := web.ParseOrigins(c.WebOrigins); err != nil {
		return &ConfigError{"web-origins", err}
	}
	if _, err := ratelimit.ParseProxies(c.Proxies); err != nil {
		return &ConfigError{"proxies", err}
	}
	switch {
	case (c.TLSCert == "") != (c.TLSKey == ""):
		return wrong("tls-cert", "must be set together with --tls-key")
	case c.TLSClientCA != "" && c.TLSCert == "":
		return wrong("tls-client-ca", "needs --tls-cert: without it nothing is encrypted")
	case c.Pprof && c.Metrics == "":
		return wrong("pprof", "needs --metrics, the address on which it is served")
	case !slices.Contains(LogFormats, c.LogFormat):
		return wrong("log-format", "must be %s, not %q", strings.Join(LogFormats, " or "), c.LogFormat)
	case c.Keepalive != 0 && c.Keepalive < minKeepalive:
		return wrong("keepalive", "must be 0 or at least %v", minKeepalive)
	case c.AbandonAfter <= 0:
		return wrong("abandon-after", "must be more than 0")
	case c.WaitingFor <= 0:
		return wrong("waiting-for", "must be more than 0")
	case c.MinTurnLimit <= 0 || c.MinTurnLimit > maxTurnFloor:
		return wrong("min-turn-limit", "must be more than 0 and at most %v", maxTurnFloor)
	case c.BotPace < 0:
		return wrong("bot-pace", "must not be negative")
	case c.KeepAccounts <= 0:
		return wrong("keep-accounts", "must be more than 0")
	case c.KeepFinished <= 0:
		return wrong("keep-finished", "must be more than 0")
	case c.StopTimeout < 0:
		return wrong("stop-timeout", "must not be negative")
	case c.Idle <= 0:
		return wrong("idle", "must be more than 0")
	case c.PauseAfter < time.Second:
		return wrong("pause-after", "must be at least 1s")
	case c.Stall < time.Second:
		return wrong("stall", "must be at least 1s")
	}
	for _, limit := range limits.Table {
		if err := limits.Check(*limit.Of(&c.Limits)); err != nil {
			return &ConfigError{limit.Flag, err}
		}
	}
	return nil
}

// webAddress returns the address of a listener for HTTP alone, empty if there is none.
func (c *Config) webAddress() string {
	if c.Web == NoWeb {
		return ""
	}
	return c.Web
}

func checkAddress(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		var reason *net.AddrError
		if errors.As(err, &reason) {
			return fmt.Errorf("%q is not an address: %s", address, reason.Err)
		}
		return err
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return fmt.Errorf("%q has no valid port", address)
	}
	return nil
}

// NewLogger returns the logger that the configuration asks for.
func (c *Config) NewLogger() *slog.Logger {
	if c.Logger != nil {
		return c.Logger
	}
	return newLogger(os.Stderr, c.LogLevel, c.LogFormat)
}

func newLogger(w io.Writer, level slog.Level, format string) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
