// Package netaddr says which addresses limits count as one client.
package netaddr

import (
	"net"
	"net/netip"
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
