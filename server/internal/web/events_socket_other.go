//go:build !unix

package web

import (
	"net"
	"syscall"
	"time"
)

// rawConn returns nil, because this platform has no way to write without blocking or to look for a closed
// connection, which the next write detects.
func rawConn(net.Conn) syscall.RawConn { return nil }

func hasInput(syscall.RawConn) bool { return false }

func (*eventStream) tryWrite(uintptr) {}

func limitUnread(syscall.RawConn, time.Duration) {}
