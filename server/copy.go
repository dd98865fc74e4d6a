package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/gridstand/gridstand/server/internal/liveness"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
)

// Copied reports how much Copy has copied.
type Copied = store.Copied

// Copy copies everything from the store that c selects to an empty store. to selects the target
// store, in the same format as Config.Store. No server may be running on the source or the
// target. Copy calls progress with the current counts from time to time. If it fails, it
// removes the target file if it created it; any other target can no longer be opened. The error
// is a *ConfigError with the flag "from" or "to", or a one-line explanation.
func Copy(ctx context.Context, c Config, to string, progress func(Copied)) (copied Copied, err error) {
	if err := c.validate(); err != nil {
		return Copied{}, err
	}
	target := c
	target.Store = to
	if c.sameStore(&target) {
		return Copied{}, wrong("to", "must not be the same store as --from")
	}
	source, err := c.openStopped(ctx, "from", false)
	if err != nil {
		return Copied{}, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	file, isNew := target.newFile()
	opened, err := target.openStopped(ctx, "to", true)
	if err != nil {
		return Copied{}, err
	}
	defer func() {
		if err = errors.Join(err, opened.Close()); err != nil && isNew {
			sqlite.Remove(file)
		}
	}()
	copied, err = store.Copy(ctx, source, opened, progress)
	if err != nil {
		return copied, err
	}
	if err := liveness.NewRecovery(target.recovery(opened, c.NewLogger())).ReindexAll(ctx); err != nil {
		return copied, fmt.Errorf("indexing games: %w", err)
	}
	return copied, opened.Copier.Finish(ctx)
}

// sameStore reports whether both select the same store, or the same file by different paths.
func (c *Config) sameStore(other *Config) bool {
	if c.Store == other.Store {
		return true
	}
	one, isFile := c.storeFile()
	two, isToo := other.storeFile()
	if !isFile || !isToo {
		return false
	}
	a, _ := os.Stat(one) // nil if there is no such file
	b, _ := os.Stat(two)
	return os.SameFile(a, b)
}

// openStopped opens the store that c selects, unless a server is running on it. Errors about
// the selection refer to the given flag.
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

// A server counts as running if its last heartbeat was less than heartbeatTimeout ago.
// Servers send more than one heartbeat per second.
const heartbeatTimeout = 5 * time.Second

// stopped returns an error if a server is using a shared store, or was using it a few seconds
// ago.
func stopped(ctx context.Context, s *store.Store) error {
	if !s.Shared() {
		return nil // The file is locked, so no server is running.
	}
	now, err := s.Heartbeats.Servers(ctx)
	if err != nil {
		return err
	}
	for _, server := range now.Servers {
		if !server.Left && now.Now.Sub(server.At) < heartbeatTimeout {
			return fmt.Errorf("a server is running on %s, or was a few seconds ago; stop all servers first", s.Name())
		}
	}
	return nil
}
