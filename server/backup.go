package server

import (
	"context"
	"path/filepath"

	"github.com/gridstand/gridstand/server/internal/store/sqlite"
)

// BackedUp is the result of Backup.
type BackedUp struct {
	// Store is the store that was copied, in the same format as Config.Store.
	Store string
	// Games is the number of games in the backup, and Bytes is its size.
	Games, Bytes int64
}

// Backup copies the store selected by c.Store and c.Data to an empty file, even while a
// server uses the store. The store must be a file, because Redis has its own backups. The
// error is a *ConfigError or a one-line explanation.
func Backup(ctx context.Context, c Config, file string) (BackedUp, error) {
	path, err := c.checkLasting()
	if err == nil && path == "" {
		err = wrong("store", "backup needs a file, sqlite:PATH; for a Redis, run redis-cli --rdb FILE")
	}
	if err == nil {
		err = exists(path)
	}
	if err != nil {
		return BackedUp{}, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return BackedUp{}, err
	}
	b := BackedUp{Store: File(path)}
	b.Games, b.Bytes, err = sqlite.Backup(ctx, path, file)
	return b, err
}
