// Package server provides a complete Gridstand server as a library. Config configures it, Start
// starts it, and Run serves until its context is done. The gridstand-server program, gridstand play
// --local and the tests use it.
package server

import (
	"cmp"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adrg/xdg"

	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/server/internal/front"
	"github.com/gridstand/gridstand/server/internal/web"
	"github.com/gridstand/gridstand/server/limits"
)

// Memory is the value of Config.Store for a store in memory, which is lost when the
// server ends.
const Memory = "memory"

// File returns the value of Config.Store for the store in the file at path. An empty path
// means the default file in Config.Data.
func File(path string) string { return fileScheme + path }

const fileScheme = "sqlite:"

// LogFormats contains the valid values of Config.LogFormat.
var LogFormats = []string{"text", "json"}

// Config configures a server. The fields before Listener correspond to the flags of the
// gridstand-server program, whose help describes them. Start with DefaultConfig.
type Config struct {
	// Listen is the TCP address to serve on. Port 0 chooses a free port.
	Listen string
	// WebOrigins is a comma-separated list of origins whose pages may make calls with a
	// token; "*" allows all origins. The server's own pages are always allowed.
	WebOrigins string
	// PublicURL is the URL of the web pages, without a path, for the links that clients
	// display. If it is empty, clients use the address that they connect to.
	PublicURL string
	// Store selects the store: the result of File, Memory, a redis:// or rediss:// URL, or
	// several such URLs separated by commas.
	Store string
	// Data is the directory that contains the file selected by File("").
	Data string
	// TLSCert and TLSKey are the paths of PEM files. If both are empty, connections are
	// not encrypted. The server rereads the files after they are replaced.
	TLSCert, TLSKey string
	// Metrics is the TCP address to serve metrics and profiles on, or empty to serve none.
	Metrics string
	// LogLevel and LogFormat configure the log on standard error.
	LogLevel  slog.Level
	LogFormat string
	// AbandonAfter is how long a game may go without a move before it ends.
	AbandonAfter time.Duration
	// MinTurnLimit is the shortest turn limit that games may have. It cannot exceed the
	// default.
	MinTurnLimit time.Duration
	// BotPace is how long a bot waits before it moves.
	BotPace time.Duration
	// Exhibition lets servers start a game between bots when a client lists live games and none
	// is being played. Each server decides independently.
	Exhibition bool
	// Reactions lets watchers react to games.
	Reactions bool
	// Daily is a comma-separated list of the variants with a daily game, or empty for none. All
	// servers that share a store need the same value.
	Daily string
	// KeepFinished is how long finished games are kept.
	KeepFinished time.Duration
	// KeepAccounts is how long an account without games or calls is kept. After that, its name
	// stays taken.
	KeepAccounts time.Duration
	// Proxies is a comma-separated list of the addresses and networks of proxies that are
	// trusted to report their clients' addresses, or empty for none.
	Proxies string
	// Limits limits what clients can do.
	Limits limits.Limits
	// StopTimeout is how long a shutdown may wait for calls in progress.
	StopTimeout time.Duration

	// Listener, if set, replaces Listen. The server closes it.
	Listener net.Listener
	// Stall is how long an HTTP client may read nothing before its connection is closed.
	Stall time.Duration
	// LoopbackOnly makes the server refuse HTTP requests for host names that are not loopback
	// ones, and those of other origins' pages, which could otherwise read the player's games.
	LoopbackOnly bool
	// Logger, if set, replaces the logger that LogLevel and LogFormat configure.
	Logger *slog.Logger
	// StoreNow is the clock of a store in a file or in memory. If it is nil, the store uses
	// time.Now. A Redis store uses Redis's clock.
	StoreNow func() time.Time
}

// DefaultConfig returns the configuration that the program uses when no flags are set.
func DefaultConfig() Config {
	return Config{
		Listen:       ":2048",
		Store:        File(""),
		Data:         StatePath("server"),
		LogLevel:     slog.LevelInfo,
		LogFormat:    "text",
		AbandonAfter: 7 * 24 * time.Hour,
		MinTurnLimit: maxTurnFloor,
		BotPace:      700 * time.Millisecond,
		Exhibition:   true,
		Reactions:    true,
		Daily:        "classic",
		KeepFinished: 30 * 24 * time.Hour,
		KeepAccounts: 90 * 24 * time.Hour,
		Limits:       limits.Default(),
		StopTimeout:  10 * time.Second,
		Stall:        time.Minute,
	}
}

// StatePath returns the path of a file or directory with the given name among those that the programs
// keep for the current user, or "" if the environment defines no home directory.
func StatePath(name string) string {
	if _, err := os.UserHomeDir(); err != nil && os.Getenv("XDG_STATE_HOME") == "" {
		return ""
	}
	return filepath.Join(xdg.StateHome, "gridstand", name)
}

// Unlimited returns a copy of c with no limits except the message size. It is for tests and
// benchmarks, whose calls all come from one address.
func (c Config) Unlimited() Config {
	c.Limits = limits.Limits{limits.MessageBytes: c.Limits[limits.MessageBytes]}
	return c
}

// ConfigError reports an unusable value of a Config field.
type ConfigError struct {
	// Flag is the flag that sets the value, without dashes.
	Flag string
	Err  error
}

func (e *ConfigError) Error() string { return "--" + e.Flag + ": " + e.Err.Error() }

// Unwrap returns the error without the flag's name.
func (e *ConfigError) Unwrap() error { return e.Err }

func wrong(flag, format string, args ...any) error {
	return &ConfigError{Flag: flag, Err: fmt.Errorf(format, args...)}
}

// maxTurnFloor is the largest valid MinTurnLimit. The contract guarantees that every
// server allows games with a turn limit of five seconds.
const maxTurnFloor = 5 * time.Second

// validate returns a *ConfigError for the first invalid value. It does not check addresses, nor
// files such as certificates.
func (c *Config) validate() error {
	if _, err := web.ParseOrigins(c.WebOrigins); err != nil {
		return &ConfigError{"web-origins", err}
	}
	if _, err := front.ParseProxies(c.Proxies); err != nil {
		return &ConfigError{"proxies", err}
	}
	if !validPublicURL(c.PublicURL) {
		return wrong("public-url", "must be like https://play.example, without a path, not %q", c.PublicURL)
	}
	switch {
	case c.Listen == "" && c.Listener == nil:
		return wrong("listen", "must be an address such as :2048")
	case (c.TLSCert == "") != (c.TLSKey == ""):
		return wrong("tls-cert", "must be set together with --tls-key")
	case !slices.Contains(LogFormats, c.LogFormat):
		return wrong("log-format", "must be %s, not %q", strings.Join(LogFormats, " or "), c.LogFormat)
	case c.AbandonAfter <= 0:
		return wrong("abandon-after", "must be more than 0")
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
	case c.Stall < time.Second:
		return wrong("stall", "must be at least 1s")
	}
	for _, variant := range c.dailies() {
		if v, ok := variants.Current(variant); !ok || v.Seats != 1 {
			return wrong("daily", "must name variants of 2048, not %q; these are %s", variant, strings.Join(dailyVariants(), ", "))
		}
	}
	for i, limit := range limits.Table {
		if err := limits.Check(c.Limits[i]); err != nil {
			return &ConfigError{cmp.Or(limit.Flag, limit.Field), err}
		}
	}
	return nil
}

// dailyVariants returns the IDs of the variants that support daily games.
func dailyVariants() (ids []string) {
	for _, v := range variants.All() {
		if v.Seats == 1 {
			ids = append(ids, v.ID)
		}
	}
	return ids
}

// dailies returns the IDs of the variants that have a daily game.
func (c *Config) dailies() []string {
	return strings.FieldsFunc(c.Daily, func(r rune) bool { return r == ',' || r == ' ' })
}

// validPublicURL reports whether s is empty, or an http or https URL with a host and
// nothing else.
func validPublicURL(s string) bool {
	if s == "" {
		return true
	}
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.Scheme+"://"+u.Host == s
}

// NewLogger returns the logger that LogLevel and LogFormat configure.
func (c *Config) NewLogger() *slog.Logger {
	if c.Logger != nil {
		return c.Logger
	}
	options := &slog.HandlerOptions{Level: c.LogLevel}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, options))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, options))
}
