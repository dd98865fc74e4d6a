package front

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/gridstand/gridstand/internal/netaddr"
)

// Proxies contains the addresses of trusted proxies. Their x-forwarded-for headers
// contain the addresses of clients.
type Proxies []netip.Prefix

// ParseProxies parses a comma-separated list of addresses and networks, such as 10.0.0.0/8.
// An empty string means no proxies.
func ParseProxies(text string) (Proxies, error) {
	var proxies Proxies
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		prefix, err := netip.ParsePrefix(part)
		if err != nil {
			address, err := netip.ParseAddr(part)
			if err != nil {
				return nil, fmt.Errorf("%q is neither an address nor a network like 10.0.0.0/8", part)
			}
			address = netaddr.Normal(address)
			prefix = netip.PrefixFrom(address, address.BitLen())
		}
		proxies = append(proxies, prefix.Masked())
	}
	return proxies, nil
}

// Trusted reports whether a connection comes from one of the proxies.
func (p Proxies) Trusted(peer net.Addr) bool { return p.contain(netaddr.Of(peer)) }

func (p Proxies) contain(address netip.Addr) bool {
	return slices.ContainsFunc(p, func(prefix netip.Prefix) bool { return prefix.Contains(address) })
}

// Of returns the Key of the client that makes a call, given the connection's peer address
// and the call's x-forwarded-for headers. Each proxy appends the address of its client, so
// the client is the last address in the list that is not a proxy. Earlier entries can be
// forged.
func (p Proxies) Of(peer net.Addr, forwarded []string) string {
	address := netaddr.Of(peer)
	// Do not split the list: any client can send a long one.
	for hops := strings.Join(forwarded, ","); p.contain(address); {
		comma := strings.LastIndexByte(hops, ',')
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[comma+1:]))
		if err != nil {
			break
		}
		address, hops = netaddr.Normal(hop), hops[:max(comma, 0)]
	}
	return key(address)
}

// Key returns the key under which limits count an address: the address itself, or its network
// if it is one of IPv6. Those that are not of IP, such as sockets of Unix, have the same key.
func Key(address net.Addr) string { return key(netaddr.Of(address)) }

func key(address netip.Addr) string {
	if address.Is6() {
		return netaddr.Network(address).String()
	}
	return address.String()
}
