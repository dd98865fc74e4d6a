// Package netaddr says which addresses limits count as one client, and on which a program can listen.
package netaddr

import (
	"errors"
	"net"
	"net/netip"
	"strings"
)

// Of returns the normal form of a connection's IP address, or the zero Addr if it has none.
func Of(a net.Addr) netip.Addr {
	if tcp, ok := a.(interface{ AddrPort() netip.AddrPort }); ok {
		return Normal(tcp.AddrPort().Addr())
	}
	return netip.Addr{}
}

// Normal returns an address without its zone, and an IPv4 address in IPv6 as IPv4. Prefixes
// contain no other form.
func Normal(ip netip.Addr) netip.Addr { return ip.Unmap().WithZone("") }

// Network returns the network that counts as a single address: for IPv6 a /56, because many
// providers assign a whole /56 to each customer, and otherwise only the address.
func Network(ip netip.Addr) netip.Prefix {
	bits := ip.BitLen()
	if ip.Is6() {
		bits = 56
	}
	network, _ := ip.Prefix(bits) // fails only for too many bits
	return network
}

// Unusable returns the reason in an error of net.Listen for which no later call with the address can succeed. It
// returns nil if one can: another program may be using the address now, or its host may be found later.
func Unusable(err error) error {
	if invalid, ok := errors.AsType[*net.AddrError](err); ok {
		return invalid
	}
	// The error for an unknown name of a port, such as tcp/nosuch
	if unknown, ok := errors.AsType[*net.DNSError](err); ok && strings.HasPrefix(unknown.Name, "tcp/") {
		return unknown
	}
	return nil
}
