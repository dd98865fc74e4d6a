//go:build unix

package web

import (
	"crypto/tls"
	"errors"
	"net"
	"syscall"
)

// hasInput reports whether the client has closed the connection or sent unexpected data
// after its request.
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

// rawConn returns c's socket for non-blocking writes, or nil if they are not possible.
func rawConn(c net.Conn) syscall.RawConn {
	if _, encrypted := c.(*tls.Conn); encrypted {
		return nil
	}
	s, ok := socket(c).(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}

// tryWrite writes as much of b as possible without blocking, and returns the number of
// bytes written. Errors are ignored, because the next Write returns them.
func tryWrite(c syscall.RawConn, b []byte) (n int) {
	_ = c.Write(func(fd uintptr) bool {
		var err error
		for n, err = syscall.Write(int(fd), b); errors.Is(err, syscall.EINTR); {
			n, err = syscall.Write(int(fd), b)
		}
		return true
	})
	return max(0, n)
}
