//go:build unix

package sqlite

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// owner returns the ID of the user that owns a file, if it is known.
func owner(info os.FileInfo) (uid int, ok bool) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid), true
	}
	return 0, false
}

// access returns an error if this process may not read and write a file. It does not open the file.
func access(name string) error {
	if err := unix.Faccessat(unix.AT_FDCWD, name, unix.R_OK|unix.W_OK, unix.AT_EACCESS); err != nil {
		return &os.PathError{Op: "open", Path: name, Err: err}
	}
	return nil
}
