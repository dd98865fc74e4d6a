//go:build !unix

package web

import (
	"net"
	"syscall"
)

// hasInput always returns false, because there is no way to check on this platform. A closed
// connection is detected by the next write, which fails.
func hasInput(net.Conn) bool { return false }

// rawConn returns nil, because this platform has no way to write without blocking.
func rawConn(net.Conn) syscall.RawConn { return nil }

func tryWrite(syscall.RawConn, []byte) int { return 0 }
