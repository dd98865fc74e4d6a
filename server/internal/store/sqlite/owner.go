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

// explain adds to an error from opening the database at path what SQLite and the system do not
// report: to whom a file belongs that this process may not use, or what to do about a damaged one.
func explain(path string, err error) error {
	if isCorrupt(err) {
		return fmt.Errorf("it is damaged, or is not a file of Gridstand; restore a backup, or name another file (%w)", err)
	}
	denied := errors.Is(err, fs.ErrPermission)
	if file, ok := errors.AsType[*fs.PathError](err); ok && denied {
		if info, statErr := os.Stat(file.Path); statErr == nil {
			if of, ok := owner(info); ok {
				return fmt.Errorf("%w: it belongs to %s and has mode %04o; this process runs as %s, who must own it and be able to read and write it",
					err, userName(of), info.Mode().Perm(), userName(os.Geteuid()))
			}
		}
	}
	code := sqlite3.ErrCode(err).ToPrimary()
	if denied || code == sqlite3.ResultReadOnly || code == sqlite3.ResultCantOpen {
		return fmt.Errorf("%w; this process must be able to write to %s, and to the files in it that begin with %s",
			err, filepath.Dir(path), filepath.Base(path))
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
