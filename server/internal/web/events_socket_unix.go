//go:build unix

package web

import (
	"errors"
	"net"
	"runtime"
	"syscall"
	"time"
)

// hasInput reports whether the client has closed the connection or sent unexpected data
// after its request.
func hasInput(c syscall.RawConn) bool {
	var has bool
	err := c.Control(func(fd uintptr) {
		var b [1]byte
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		has = !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EINTR)
	})
	return has || err != nil
}

// rawConn returns c's socket, or nil if it has none.
func rawConn(c net.Conn) syscall.RawConn {
	s, ok := socket(c).(syscall.Conn)
	if !ok {
		return nil
	}
	raw, _ := s.SyscallConn() // fails only for a nil connection
	return raw
}

// tryWrite writes as much of what is first as possible without blocking. Errors are ignored, because
// the next Write returns them.
func (s *eventStream) tryWrite(fd uintptr) {
	n, err := syscall.Write(int(fd), s.first)
	for errors.Is(err, syscall.EINTR) {
		n, err = syscall.Write(int(fd), s.first)
	}
	s.first = s.first[max(0, n):]
}

// limitUnread makes the kernel break a connection whose client takes nothing for d although there is data
// for it. Writes do not detect that as long as the data fits into the kernel's buffer, and the kernel would
// wait a quarter of an hour for a client without a network. It does nothing except on Linux.
func limitUnread(c syscall.RawConn, d time.Duration) {
	const userTimeout = 0x12 // TCP_USER_TIMEOUT
	if runtime.GOOS != "linux" {
		return
	}
	_ = c.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, userTimeout, int(d.Milliseconds()))
	})
}
