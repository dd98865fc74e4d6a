package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/gridstand/gridstand/server/internal/recovery"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
)

// Copied is how much Copy copied.
type Copied = store.Copied

// Copy copies all that a store keeps into an empty one, which the value to of
// Config.Store names; c names the first one. No server may run on either of them.
// Progress is called with what was copied so far, now and then. A file that it made is
// removed after an error, which is a *ConfigError, with the flag "from" or "to", or
// says in a line why there is no copy.
func Copy(ctx context.Context, c Config, to string, progress func(Copied)) (copied Copied, err error) {
	if err := c.validate(); err != nil {
		return Copied{}, err
	}
	target := c
	target.Store = to
	if target.Store == c.Store {
		return Copied{}, wrong("to", "must be another store than --from")
	}
	source, err := c.openStopped(ctx, "from", false)
	if err != nil {
		return Copied{}, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	remove := target.newFile()
	opened, err := target.openStopped(ctx, "to", true)
	if err != nil {
		return Copied{}, err
	}
	defer func() {
		if err = errors.Join(err, opened.Close()); err != nil {
			remove()
		}
	}()
	copied, err = store.Copy(ctx, source, opened, progress)
	if err != nil {
		return copied, err
	}
	if err := recovery.New(target.recovery(opened, c.NewLogger())).ReindexAll(ctx); err != nil {
		return copied, fmt.Errorf("making lists of the games: %w", err)
	}
	return copied, nil
}

// openStopped opens a store on which no server runs. flag is that which named it.
func (c *Config) openStopped(ctx context.Context, flag string, create bool) (*store.Store, error) {
	if c.Store == Memory {
		return nil, wrong(flag, "a store in memory exists only inside its server")
	}
	s, err := c.open(ctx, sqlite.Options{Logger: slog.New(slog.DiscardHandler)}, create)
	var invalid *ConfigError
	switch {
	case errors.As(err, &invalid) && invalid.Flag == "store":
		return nil, &ConfigError{flag, invalid.Err}
	case errors.Is(err, ErrInUse):
		return nil, fmt.Errorf("%w; stop it first", err)
	case err != nil:
		return nil, err
	}
	if err := stopped(ctx, s); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// stillRuns is the age of a heartbeat up to which its server counts as running. They
// beat more than once a second.
const stillRuns = 5 * time.Second

// stopped returns an error if a server runs on a shared store, or died just now.
func stopped(ctx context.Context, s *store.Store) error {
	if !s.Shared() {
		return nil // It is locked.
	}
	now, err := s.Heartbeats.Servers(ctx)
	if err != nil {
		return err
	}
	for _, server := range now.Servers {
		if !server.Left && now.Now.Sub(server.At) < stillRuns {
			return fmt.Errorf("a server runs on redis at %s, or did some seconds ago; stop all of them first", s.Name())
		}
	}
	return nil
}

// newFile returns a function that removes the file that c names, with those beside it,
// unless it exists now.
func (c *Config) newFile() (remove func()) {
	path, ok := strings.CutPrefix(c.Store, fileScheme)
	path, err := c.file(path)
	if !ok || err != nil || exists(path) == nil {
		return func() {}
	}
	return func() {
		for _, end := range []string{"", "-wal", "-shm", ".lock"} {
			_ = os.Remove(path + end)
		}
	}
}
