package sqlite

import "golang.org/x/sys/unix"

// These locks belong to the open file, so that closing another descriptor does not release them.
const setLock, getLock = unix.F_OFD_SETLK, unix.F_OFD_GETLK
