package sshhost

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"
)

// Limits bound the resources that clients can use. The numbers must be positive.
type Limits struct {
	// Sessions, SessionsPerAddress and SessionsPerConnection limit the concurrent sessions
	// in total, per address (for IPv6, per /64 network) and per connection. Up to twice as
	// many connections may be open, in total and per address.
	Sessions, SessionsPerAddress, SessionsPerConnection int
	// Login is how long a connection may stay open without a session, before the first one
	// and after the last one.
	Login time.Duration
	// Idle is how long a session may go without a key press, and Duration is the maximum
	// duration of a session. 0 means no limit.
	Idle, Duration time.Duration
	// Stall is the time that a client may take to read output or to answer a probe.
	Stall time.Duration
}

// DefaultLimits returns limits for a host on a small machine. A session of 80 × 24 takes about
// one megabyte, and a larger one more in proportion to its cells.
func DefaultLimits() Limits {
	return Limits{
		Sessions: 500, SessionsPerAddress: 100, SessionsPerConnection: 10,
		Login: 30 * time.Second, Idle: 2 * time.Hour, Stall: time.Minute,
	}
}

// Errors returned by a counter, which the host sends to the client.
var (
	errFull        = errors.New("this host has reached its limit of sessions; try again later")
	errAddressFull = errors.New("too many sessions from your address; end one of them, or try again later")
)

// Terminals that are larger than 80 × 24 use at most this many cells, in total and per address. The
// screens of a session take about 400 bytes a cell.
const maxCells, maxCellsPerAddress = 1_000_000, 400_000

// counter counts connections, sessions or cells by address.
type counter struct {
	limit, perAddress int

	mu   sync.Mutex
	all  int
	from map[netip.Prefix]int
}

func newCounter(limit, perAddress int) *counter {
	return &counter{limit: limit, perAddress: perAddress, from: map[netip.Prefix]int{}}
}

// take counts n connections, sessions or cells until release is called. It returns an error if
// that would exceed a limit.
func (c *counter) take(from net.Addr, n int) (release func(), err error) {
	s := c.share(from)
	if err := s.set(n); err != nil {
		return nil, err
	}
	return func() { _ = s.set(0) }, nil
}

// share is what an address uses for one purpose, such as the cells of one terminal.
type share struct {
	counter *counter
	network netip.Prefix
	n       int
}

// share returns a share of an address that uses nothing yet.
func (c *counter) share(from net.Addr) *share { return &share{counter: c, network: networkOf(from)} }

// set changes the share to n. If that would exceed a limit, it returns an error, and the share
// keeps what it has. A smaller share is always possible.
func (s *share) set(n int) error {
	c := s.counter
	c.mu.Lock()
	defer c.mu.Unlock()
	more := n - s.n
	switch {
	case more > 0 && c.all+more > c.limit:
		return errFull
	case more > 0 && c.from[s.network]+more > c.perAddress:
		return errAddressFull
	}
	s.n = n
	c.all += more
	if c.from[s.network] += more; c.from[s.network] == 0 {
		delete(c.from, s.network)
	}
	return nil
}

// addressOf returns the IP address of a connection; the zero Addr if it has none.
func addressOf(a net.Addr) netip.Addr {
	if tcp, ok := a.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}

// networkOf returns the network that counts as a single address. The server uses the same
// rule.
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
