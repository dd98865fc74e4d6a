package server

import (
	"context"
	"strings"

	"github.com/gridstand/gridstand/server/internal/store/sqlite"
)

// Backup writes a copy of the store that c.Store and c.Data name into a new file, also
// while a server runs on it. The store must be a file: a Redis has backups of its own.
// The error is a *ConfigError, or says in a line why there is no copy.
func Backup(ctx context.Context, c Config, file string) error {
	if err := c.validate(); err != nil {
		return err
	}
	path, ok := strings.CutPrefix(c.Store, fileScheme)
	if !ok {
		return wrong("store", "backup copies a file, sqlite:PATH; for a Redis, copy its append-only files")
	}
	path, err := c.file(path)
	if err == nil {
		err = exists(path)
	}
	if err != nil {
		return err
	}
	return sqlite.Backup(ctx, path, file)
}
