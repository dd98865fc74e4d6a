//go:build !unix

package web

import "net"

// hasInput reports that it cannot tell: the next write to a closed connection does.
func hasInput(net.Conn) bool { return false }
