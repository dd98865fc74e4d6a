//go:build !unix

package web

import (
	"net"
	"syscall"
)

// hasInput reports that it cannot tell: the next write to a closed connection does.
func hasInput(net.Conn) bool { return false }

// rawConn returns that there is no way to write to a connection without waiting.
func rawConn(net.Conn) syscall.RawConn { return nil }

func tryWrite(syscall.RawConn, []byte) int { return 0 }
