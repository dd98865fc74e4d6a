package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"

	sqlite3 "zombiezen.com/go/sqlite"
)

// explain adds to an error from opening the database at path what SQLite does not report: why this
// process may not use one of the files, or what to do about a damaged one.
func explain(path string, err error) error {
	if isCorrupt(err) {
		return fmt.Errorf("it is damaged, or is not a file of Gridstand; restore a backup, or name another file (%w)", err)
	}
	for _, name := range []string{path + lockSuffix, path, path + walSuffix, path + shmSuffix} {
		denied := access(name)
		info, statErr := os.Stat(name)
		if !errors.Is(denied, fs.ErrPermission) || statErr != nil {
			continue
		}
		of, ok := owner(info)
		if !ok {
			return denied
		}
		return fmt.Errorf("%w: it belongs to %s and has mode %04o; this process runs as %s, who must own it and be able to read and write it",
			denied, userName(of), info.Mode().Perm(), userName(os.Geteuid()))
	}
	code := sqlite3.ErrCode(err).ToPrimary()
	if errors.Is(err, fs.ErrPermission) || code == sqlite3.ResultReadOnly || code == sqlite3.ResultCantOpen {
		return fmt.Errorf("%w; this process must be able to write to %s", err, filepath.Dir(path))
	}
	return err
}

// userName describes a user for a message.
func userName(uid int) string {
	u, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return fmt.Sprintf("user %d", uid)
	}
	return fmt.Sprintf("user %s (%d)", u.Username, uid)
}
