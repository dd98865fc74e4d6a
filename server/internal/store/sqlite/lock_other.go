//go:build unix && !linux

package sqlite

import "golang.org/x/sys/unix"

// These locks belong to the process; see the package's comment.
const setLock, getLock = unix.F_SETLK, unix.F_GETLK
