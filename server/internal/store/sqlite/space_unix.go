//go:build linux || darwin || freebsd

package sqlite

import (
	"math"

	"golang.org/x/sys/unix"
)

// freeSpace returns the free space in bytes of the disk that holds a file.
func freeSpace(path string) int64 {
	var s unix.Statfs_t
	if unix.Statfs(path, &s) != nil {
		return math.MaxInt64
	}
	return int64(s.Bavail) * int64(s.Bsize) //nolint:unconvert // the types depend on the platform
}
