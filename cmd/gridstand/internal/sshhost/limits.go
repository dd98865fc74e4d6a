package sshhost

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"
)

// Limits bound what clients may use. Numbers must be positive.
type Limits struct {
	// Sessions at a time: of all clients, of one address (for IPv6, one network of 64
	// bits) and of one connection. Twice as many connections may be open.
	Sessions, SessionsPerAddress, SessionsPerConnection int
	// Login is how long a connection may have no session: before the first one, and
	// after the last one.
	Login time.Duration
	// Idle is how long a session may receive no key, and Duration how long it may last.
	// 0 is no limit.
	Idle, Duration time.Duration
	// Stall is how long a client may take to read output, or to answer a probe.
	Stall time.Duration
}

// DefaultLimits are for a host on a small machine: a session takes about a megabyte.
func DefaultLimits() Limits {
	return Limits{
		Sessions: 500, SessionsPerAddress: 100, SessionsPerConnection: 10,
		Login: 30 * time.Second, Idle: 2 * time.Hour, Stall: time.Minute,
	}
}

// Errors of a counter, which are sent to the client.
var (
	errFull        = errors.New("all places of this host are taken; try again later")
	errAddressFull = errors.New("too many sessions from your address; end one of them, or try again later")
)

// counter counts connections or sessions, by address.
type counter struct {
	limit, perAddress int

	mu   sync.Mutex
	all  int
	from map[netip.Prefix]int
}

func newCounter(limit, perAddress int) *counter {
	return &counter{limit: limit, perAddress: perAddress, from: map[netip.Prefix]int{}}
}

// take counts one more until release is called.
func (c *counter) take(from net.Addr) (release func(), err error) {
	network := networkOf(from)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.all >= c.limit:
		return nil, errFull
	case c.from[network] >= c.perAddress:
		return nil, errAddressFull
	}
	c.all++
	c.from[network]++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.all--
		if c.from[network]--; c.from[network] == 0 {
			delete(c.from, network)
		}
	}, nil
}

// addressOf returns the IP address of a connection, the zero Addr if it has none.
func addressOf(a net.Addr) netip.Addr {
	if tcp, ok := a.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}

// networkOf returns the network that counts as one address, as on the server.
func networkOf(a net.Addr) netip.Prefix {
	address := addressOf(a)
	bits := address.BitLen()
	if address.Is6() {
		bits = 64
	}
	network, err := address.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return network
}
