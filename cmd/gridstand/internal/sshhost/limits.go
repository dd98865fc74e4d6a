package sshhost

import (
	"errors"
	"time"

	"golang.org/x/time/rate"
)

// Limits bound the sessions of clients. An address is for IPv6 a /56 network.
type Limits struct {
	// Sessions and SessionsPerAddress limit the concurrent sessions in total and per address.
	// They must be positive.
	Sessions, SessionsPerAddress int
	// Idle is how long a session may go without a key press. 0 means no limit.
	Idle time.Duration
}

// DefaultLimits returns limits for a host with two gigabytes of memory. A session takes about
// one megabyte at 80 × 24, and up to seven at maxColumns × maxRows.
func DefaultLimits() Limits {
	return Limits{Sessions: 200, SessionsPerAddress: 50, Idle: 2 * time.Hour}
}

const (
	// silentTimeout is how long a connection may stay open without an exchange of keys, and
	// loginTimeout is how long it may then stay open without a session, before the first one and
	// after the last one.
	silentTimeout = 10 * time.Second
	loginTimeout  = 30 * time.Second
	// stallTimeout is the time that a client may take to read output. It begins when the
	// system's buffer for the output, of writeBuffer bytes, is full.
	stallTimeout = time.Minute
	writeBuffer  = 64 << 10
)

// Reasons why the host refuses a session or closes a connection that has none. The first two
// are shown to the user.
var (
	errFull        = errors.New("this host has reached its limit of sessions; try again later")
	errAddressFull = errors.New("too many sessions from your address; end one of them, or try again later")
	errPlaces      = errors.New("too many connections without a session")
	errLogin       = errors.New("no session was opened in time")
)

// The host reads the connections of an address at a limited rate. What takes more processor
// time than a client's bytes do counts as more of them: an exchange of keys, the start of a
// session, and a terminal's key, mouse movement or change of size, for which the screen is drawn
// again.
const (
	bytesPerSecond = 128 << 10
	bytesBurst     = 1 << 20
	exchangeBytes  = 8 << 10
	sessionBytes   = 8 << 10
	eventBytes     = 512
)

// maxShares is the number of addresses whose share the host remembers.
const maxShares = 4096

// share is what the sessions of an address share: the rate at which their input is read, and places
// for those that draw a frame at the same time, so that they leave processors to other addresses.
type share struct {
	rate  *rate.Limiter
	turns chan struct{}
}

// renderFactor times the time for drawing a frame is the time that its place then stays taken. The
// renderer, a goroutine of its own, compares the frame with the last one and writes the difference.
const renderFactor = 2
