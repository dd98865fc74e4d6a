package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"

	sqlite3 "zombiezen.com/go/sqlite"
)

// Backup writes a copy of the store at path to an empty file. The copy is consistent even
// while a server is writing to the store. Backup returns the number of games in the copy,
// and its size in bytes. A file of an earlier version is copied as it is.
func Backup(ctx context.Context, path, file string) (games, size int64, err error) {
	c, err := connectBeside(ctx, path)
	if err != nil {
		return 0, 0, err
	}
	if _, err = supported(c, latestVersion(upgrades)); err == nil {
		err = exec(c, "VACUUM INTO ?", file)
	}
	err = errors.Join(err, c.Close())
	switch {
	case ctx.Err() != nil:
		return 0, 0, ctx.Err()
	case err != nil:
		return 0, 0, failed(fmt.Errorf("copying %s: %w", path, err))
	}
	return measure(file)
}

// connectBeside opens a connection that only reads the store at path, which a server may be
// using.
func connectBeside(ctx context.Context, path string) (c *sqlite3.Conn, err error) {
	if path, err = realPath(path); err == nil {
		err = checkBeside(path)
	}
	if err == nil {
		c, err = connectReader(path)
	}
	if err != nil {
		return nil, failed(fmt.Errorf("opening %s: %w", path, explain(err)))
	}
	c.SetInterrupt(ctx.Done())
	return c, nil
}

// measure returns the number of games in a database, and its size in bytes.
func measure(path string) (games, size int64, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, 0, err
	}
	c, err := connectReader(path)
	if err != nil {
		return 0, 0, err
	}
	games, err = number(c, "SELECT count(*) FROM games")
	return games, info.Size(), errors.Join(err, c.Close())
}
