package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gridstand/gridstand/internal/periodic"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/redis"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
)

// openStore opens the store that c selects, for use by a server, and waits until the store
// answers. The caller must close the store. If a value of c is invalid, the error is a
// *ConfigError.
func (c *Config) openStore(ctx context.Context, logger *slog.Logger) (*store.Store, error) {
	if c.Store == Memory {
		return sqlite.Open(sqlite.Options{Memory: true, Now: c.StoreNow, Logger: logger})
	}
	return c.open(ctx, sqlite.Options{Now: c.StoreNow, Logger: logger}, true)
}

// open opens the store that c selects, which must not be Memory. If the store is a file,
// open applies options, and creates the file if create is set.
func (c *Config) open(ctx context.Context, options sqlite.Options, create bool) (s *store.Store, err error) {
	options.Path, err = c.lasting()
	if err == nil && options.Path == "" {
		wait := commandWaits
		if create {
			wait = serverWaits
		}
		return c.openRedis(ctx, redis.Options{Wait: wait, Logger: options.Logger})
	}
	if err == nil && !create {
		err = exists(options.Path)
	}
	if err != nil {
		return nil, err
	}
	s, err = sqlite.Open(options)
	var unusable *fs.PathError
	switch {
	case !create || !errors.As(err, &unusable) || errors.Is(err, syscall.ENOSPC): // There may be space later.
		return s, err
	case c.Store == File(""):
		return nil, &ConfigError{"data", err}
	default:
		return nil, &ConfigError{"store", err}
	}
}

// lasting returns the path of the store's file, or "" if the store is a Redis. It returns an error for
// a store in memory.
func (c *Config) lasting() (path string, err error) {
	switch kind, rest, _ := strings.Cut(c.Store, ":"); {
	case c.Store == Memory:
		return "", wrong("store", "a store in memory exists only inside its server")
	case kind == "sqlite":
		return c.file(rest)
	case kind == "redis" || kind == "rediss":
		return "", nil
	default: // The value is not quoted, because it may be a URL with a password.
		return "", wrong("store", "must be sqlite:PATH for a file, redis://HOST:PORT for a Redis, or %s", Memory)
	}
}

const (
	// serverWaits is how long a server waits at its start until Redis answers: after a reboot, both start.
	serverWaits = time.Minute
	// commandWaits is the same for a command, whose user can repeat it.
	commandWaits = 5 * time.Second
)

// openRedis calls redis.Open with the URL of the store.
func (c *Config) openRedis(ctx context.Context, o redis.Options) (*store.Store, error) {
	s, err := redis.Open(ctx, c.Store, o)
	if name, ok := errors.AsType[*store.NameError](err); ok {
		return nil, &ConfigError{"store", name.Err}
	}
	return s, err
}

// ErrNoStore means that the file with the store does not exist or is empty.
var ErrNoStore = errors.New("there is no store")

// exists returns an error if there is no file at path, or an empty one.
func exists(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %w", ErrNoStore, err)
	case err == nil && info.Size() == 0:
		return fmt.Errorf("%w: %s is empty", ErrNoStore, path)
	default:
		return err
	}
}

// dataFile is the name of the file in Config.Data.
const dataFile = "gridstand.db"

// file returns the path of the store's file if Config.Store is "sqlite:" + path.
func (c *Config) file(path string) (string, error) {
	switch {
	case path == "" && c.Data == "":
		return "", wrong("data", "must name a directory; there is a default only if HOME is set")
	case path == "":
		return filepath.Join(c.Data, dataFile), nil
	case strings.HasPrefix(path, "//") && !strings.HasPrefix(path, "///"):
		// In a URL, the next part would be a host.
		return "", wrong("store", "the path must follow sqlite: without //, as in sqlite:%s", strings.TrimPrefix(path, "//"))
	case strings.HasPrefix(path, "~"):
		// Shells replace ~ only at the start of a word.
		return "", wrong("store", "~ must be at the start of a word for the shell to replace it: write sqlite:$HOME%s", path[1:])
	}
	return path, nil
}

// The monitor reads from the store every pingEvery, with a timeout of pingTimeout.
const (
	pingEvery   = time.Second
	pingTimeout = time.Second
)

// monitor calls up(true), and then reads a job that does not exist from a store until ctx is done: the nodes of a
// Redis Cluster that is down still answer commands without a key. Whenever the store stops answering or starts to
// answer again, monitor logs a message and passes the new state to up.
func monitor(ctx context.Context, s *store.Store, logger *slog.Logger, every time.Duration, up func(bool)) {
	var away time.Time // when the store stopped answering, or zero while it answers
	up(true)
	periodic.Run(ctx, every, func() {
		ping, cancel := context.WithTimeout(ctx, pingTimeout)
		_, err := s.Queue.Scheduled(ping, "")
		cancel()
		switch {
		case ctx.Err() != nil:
		case err != nil && away.IsZero():
			away = time.Now()
			up(false)
			logger.Warn("the store does not answer; moves wait until it does", "id", "redis-away", "store", s.Name(), "error", err)
		case err == nil && !away.IsZero():
			up(true)
			logger.Info("the store answers again", "store", s.Name(), "away", time.Since(away).Round(time.Millisecond))
			away = time.Time{}
		}
	})
}
