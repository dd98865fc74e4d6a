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
		const needed = 0o600
		of, ok := owner(info)
		switch mode := info.Mode().Perm(); {
		case !ok, of == os.Geteuid() && mode&needed == needed:
			return fmt.Errorf("%w (%w)", denied, err)
		case of == os.Geteuid():
			return denial(denied, err, fmt.Sprintf("its mode is %04o; let its owner read and write it: chmod u+rw %s", mode, name))
		}
		advice := "use the owner of its directory for both"
		if directory, err := os.Stat(filepath.Dir(path)); err == nil {
			if uid, _ := owner(directory); uid == os.Geteuid() {
				advice = fmt.Sprintf("change the owner of this file and of those next to it to %d", uid)
			} else {
				advice = fmt.Sprintf("run this as %s, the owner of its directory", userName(uid))
			}
		}
		reason := fmt.Sprintf("it belongs to %s, and this process runs as %s; %s", userName(of), userName(os.Geteuid()), advice)
		return denial(denied, err, reason)
	}
	code := sqlite3.ErrCode(err).ToPrimary()
	if errors.Is(err, fs.ErrPermission) || code == sqlite3.ResultReadOnly || code == sqlite3.ResultCantOpen {
		return fmt.Errorf("%w; this process must be able to write to %s", err, filepath.Dir(path))
	}
	return err
}

// denial adds a reason to err. denied is the error from opening one of the files, which err
// may contain.
func denial(denied, err error, reason string) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: %s", err, reason)
	}
	return fmt.Errorf("%w: %s (%w)", denied, reason, err)
}

// userName describes a user for a message.
func userName(uid int) string {
	u, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return fmt.Sprintf("user %d", uid)
	}
	return fmt.Sprintf("user %s (%d)", u.Username, uid)
}

// Misowned returns the first file of the database at path that does not belong to the
// owner of its directory, with an explanation, or "" if all files do. A server that runs
// as that owner cannot open such a file. A directory of root, who can, may belong to
// everyone.
func Misowned(path string) string {
	directory, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return ""
	}
	uid, ok := owner(directory)
	if !ok || uid == 0 {
		return ""
	}
	for _, name := range []string{path, path + walSuffix, path + shmSuffix, path + lockSuffix, path + notesSuffix} {
		if info, err := os.Stat(name); err == nil {
			if of, _ := owner(info); of != uid {
				return fmt.Sprintf("%s belongs to %s and its directory to %s", name, userName(of), userName(uid))
			}
		}
	}
	return ""
}
