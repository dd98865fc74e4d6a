//go:build unix

package sqlite

import (
	"os"
	"syscall"
)

// owner returns the ID of the user that owns a file, if it is known.
func owner(info os.FileInfo) (uid int, ok bool) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid), true
	}
	return 0, false
}
