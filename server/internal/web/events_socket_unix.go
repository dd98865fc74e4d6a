//go:build unix

package web

import (
	"crypto/tls"
	"errors"
	"net"
	"sync"
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

// rawConn returns the way to write to a connection without waiting, nil if there is none.
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

// attempt is one write, kept in a pool: a closure for each would be garbage.
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

// tryWrite writes what the connection takes at once, and returns how much. The next Write
// returns the error, if any.
func tryWrite(c syscall.RawConn, b []byte) int {
	a := attempts.Get().(*attempt)
	a.b, a.n = b, 0
	_ = c.Write(a.once)
	n := a.n
	a.b = nil
	attempts.Put(a)
	return n
}
