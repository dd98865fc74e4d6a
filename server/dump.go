package server

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/gridstand/gridstand/server/internal/liveness"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/redis"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
)

// Dumped counts what Dump or Restore has written.
type Dumped = store.Counts

// Dump writes all data of the store that c selects to w, in a format from which Restore
// creates a store of any kind. It changes nothing in the store. If the store is a file,
// its server may be running; if it is a Redis, no server may be. Dump calls progress, which
// must not be nil, with the counts so far, often. The error is a *ConfigError or a
// one-line explanation.
func Dump(ctx context.Context, c Config, w io.Writer, progress func(Dumped)) (dumped Dumped, err error) {
	path, err := c.checkLasting()
	if err != nil {
		return dumped, err
	}
	if path != "" {
		if err := exists(path); err != nil {
			return dumped, err
		}
		err = sqlite.Dump(ctx, path, func(at time.Time, dump func(context.Context, func(store.Item) error) error) (err error) {
			dumped, err = store.WriteDump(ctx, w, at, dump, progress)
			return err
		})
		return dumped, err
	}
	s, err := c.openStopped(ctx, redis.Options{})
	if err != nil {
		return dumped, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	now, err := s.Time(ctx)
	if err != nil {
		return dumped, err
	}
	return store.WriteDump(ctx, w, now, s.Dumper.Dump, progress)
}

// Restore writes the data that r contains, a dump or a file made by Backup, to the store
// that c selects, which no server may use. A file made by Backup can only be restored to a
// file. If the store has data, Restore deletes that first if replace is set, and otherwise
// returns an error. If it is interrupted, nothing can open the store until it is restored
// again, except for an earlier file that it has not replaced yet. Restore calls progress,
// which must not be nil, with the counts so far, often. The error is a *ConfigError or a
// one-line explanation.
func Restore(ctx context.Context, c Config, r io.Reader, replace bool, progress func(Dumped)) (restored Dumped, err error) {
	path, err := c.checkLasting()
	if err != nil {
		return restored, err
	}
	defer func() {
		if err != nil { // An interrupt also ends the program that writes to a pipe, and then the dump seems damaged.
			err = cmp.Or(ctx.Err(), err)
		}
	}()
	in := bufio.NewReaderSize(r, 64<<10)
	const header = "SQLite format 3\x00"
	magic, _ := in.Peek(len(header)) // Reading reports the error.
	isBackup := bytes.HasPrefix(magic, []byte(header))
	if isBackup && path == "" {
		return restored, errors.New("a file made by backup can only be restored to a file; restore a dump of it")
	}
	if seeker, ok := r.(io.Seeker); ok && !isBackup {
		if _, err := seeker.Seek(0, io.SeekCurrent); err == nil { // not a pipe: find damage before anything is changed
			_, err := store.ReadDump(ctx, in, time.Time{}, func(context.Context, []store.Item) error { return nil }, func(Dumped) {})
			if err == nil {
				_, err = seeker.Seek(0, io.SeekStart)
			}
			if err != nil {
				return restored, fmt.Errorf("reading the dump: %w", err)
			}
			in.Reset(r)
		}
	}
	fill := func(s *store.Store) error {
		now, err := s.Time(ctx)
		if err == nil {
			restored, err = store.ReadDump(ctx, in, now, s.Dumper.Restore, progress)
		}
		if err != nil {
			return fmt.Errorf("restoring the dump: %w", err)
		}
		return liveness.NewRecovery(c.background(s, c.NewLogger())).ReindexAll(ctx)
	}
	if path == "" {
		err = c.restoreRedis(ctx, replace, fill)
		return restored, err
	}
	err = sqlite.Restore(path, replace, func(partial string) error {
		if isBackup {
			games, err := sqlite.RestoreBackup(partial, in)
			restored.Games = int(games)
			if err != nil {
				return fmt.Errorf("reading the backup: %w", err)
			}
			return nil
		}
		s, err := sqlite.Open(sqlite.Options{Path: partial})
		if err != nil {
			return err
		}
		return errors.Join(fill(s), s.Close())
	})
	return restored, err
}

// restoreRedis calls fill with the Redis that c selects.
func (c *Config) restoreRedis(ctx context.Context, replace bool, fill func(*store.Store) error) (err error) {
	s, err := c.openStopped(ctx, redis.Options{ToRestore: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return redis.Restore(ctx, s, replace, fill)
}

// checkLasting checks c, and returns the same as lasting.
func (c *Config) checkLasting() (path string, err error) {
	if err := c.validate(); err != nil {
		return "", err
	}
	return c.lasting()
}

// openStopped opens the Redis that c selects for a command, unless a server is using it, or was using it
// a few seconds ago. It sets the options except ToRestore.
func (c *Config) openStopped(ctx context.Context, o redis.Options) (*store.Store, error) {
	o.Wait, o.Logger = commandWaits, slog.New(slog.DiscardHandler)
	s, err := c.openRedis(ctx, o)
	if err != nil {
		return nil, err
	}
	// A server counts as running if its last heartbeat was less than this ago. Servers send
	// more than one heartbeat per second. A heartbeat from the future precedes a moment at which
	// the clock was set back.
	const heartbeatTimeout = 5 * time.Second
	now, err := s.Heartbeats.Servers(ctx)
	for _, server := range now.Servers {
		if err == nil && !server.Left && now.Now.Sub(server.At).Abs() < heartbeatTimeout {
			err = fmt.Errorf("a server is running on %s, or was a few seconds ago; stop all servers first", s.Name())
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}
