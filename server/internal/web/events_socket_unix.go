//go:build unix

package web

import (
	"crypto/tls"
	"errors"
	"net"
	"sync"
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

// attempt is the state of one write. Attempts are pooled, to avoid allocating a closure
// for each write.
type attempt struct {
	b    []byte
	n    int
	once func(fd uintptr) bool
}

var attempts = sync.Pool{New: func() any {
	a := &attempt{}
	a.once = func(fd uintptr) bool {
		for {
			n, err := syscall.Write(int(fd), a.b)
			if errors.Is(err, syscall.EINTR) {
				continue
			}
			a.n = max(0, n)
			return true
		}
	}
	return a
}}

// tryWrite writes as much of b as possible without blocking, and returns the number of
// bytes written. Errors are ignored, because the next Write returns them.
func tryWrite(c syscall.RawConn, b []byte) int {
	a := attempts.Get().(*attempt)
	a.b, a.n = b, 0
	_ = c.Write(a.once)
	n := a.n
	a.b = nil
	attempts.Put(a)
	return n
}
