//go:build unix

package web

import (
	"errors"
	"net"
	"syscall"
)

// hasInput reports whether the client of a connection has closed it, or has sent more
// than its request, which nothing will read.
func hasInput(c net.Conn) bool {
	raw, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	control, err := raw.SyscallConn()
	if err != nil {
		return true
	}
	var has bool
	err = control.Control(func(fd uintptr) {
		var b [1]byte
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		has = !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EINTR)
	})
	return has || err != nil
}
