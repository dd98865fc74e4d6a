// Package loopback recognizes the addresses at which a machine reaches only itself.
package loopback

import (
	"net"
	"strings"
)

// Is reports whether only programs on the same machine can use a host, which may have a port.
func Is(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return host == "localhost" || net.ParseIP(strings.Trim(host, "[]")).IsLoopback()
}
