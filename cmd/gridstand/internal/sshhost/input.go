package sshhost

import (
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/time/rate"
)

// Each message of a client takes processor time, and most are short. The host therefore reads
// the connections of an address at a limited rate, which is enough for the keys, mouse movements
// and window changes of all its sessions. A new connection counts as connectionBytes, because
// the key exchange takes up to a few milliseconds of processor time, and so does each further
// key exchange.
const (
	bytesPerSecond  = 512 << 10
	bytesBurst      = 4 << 20
	connectionBytes = 16 << 10
	// maxRead is the maximum number of bytes that a connection reads at once.
	maxRead = 16 << 10
)

// A session draws its screen again for every key, mouse movement and window change, which takes about
// half a millisecond. Its terminal therefore handles them at a limited rate, which the sessions of an
// address share. Keys that arrive faster wait in the session's input.
const (
	eventsPerSecond = 1000
	eventsBurst     = 2000
)

// The host logs the first linesBurst sessions of an address, and then linesPerSecond.
const (
	linesPerSecond = 1
	linesBurst     = 200
)

// budget is what the clients of an address may use.
type budget struct {
	input, events, lines *rate.Limiter

	mu     sync.Mutex
	hidden int // number of sessions that were not logged since the last one that was
}

// idle reports whether nothing was used recently, so that a new budget would be the same.
func (b *budget) idle() bool {
	return b.input.Tokens() >= bytesBurst && b.events.Tokens() >= eventsBurst && b.lines.Tokens() >= linesBurst
}

// line reports whether a session may be logged, and how many sessions were not logged before.
func (b *budget) line() (hidden int, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.lines.Allow() {
		b.hidden++
		return 0, false
	}
	hidden, b.hidden = b.hidden, 0
	return hidden, true
}

// budgets holds the budgets of addresses, or for IPv6 of /64 networks.
type budgets struct {
	mu    sync.Mutex
	of    map[netip.Prefix]*budget
	sweep int // number of budgets at which idle ones are removed
}

// minSweep is the number of budgets below which idle ones are kept.
const minSweep = 256

func newBudgets() *budgets { return &budgets{of: map[netip.Prefix]*budget{}, sweep: minSweep} }

// get returns the budget of an address.
func (b *budgets) get(from net.Addr) *budget {
	network := networkOf(from)
	b.mu.Lock()
	defer b.mu.Unlock()
	if found := b.of[network]; found != nil {
		return found
	}
	if len(b.of) >= b.sweep {
		for network, other := range b.of {
			if other.idle() {
				delete(b.of, network)
			}
		}
		b.sweep = max(minSweep, 2*len(b.of))
	}
	fresh := &budget{
		input:  rate.NewLimiter(bytesPerSecond, bytesBurst),
		events: rate.NewLimiter(eventsPerSecond, eventsBurst),
		lines:  rate.NewLimiter(linesPerSecond, linesBurst),
	}
	b.of[network] = fresh
	return fresh
}

// pacedConn is a connection that is read at the rate of its address.
type pacedConn struct {
	net.Conn
	input *rate.Limiter
	// closed is closed when the host closes the connection.
	closed    chan struct{}
	closeOnce sync.Once
}

// newPacedConn counts a new connection. While its address owes more than a second's worth,
// connections are not counted, so that other clients of the address do not wait long.
func newPacedConn(conn net.Conn, input *rate.Limiter) *pacedConn {
	if now := time.Now(); input.TokensAt(now) > -bytesPerSecond {
		input.ReserveN(now, connectionBytes)
	}
	return &pacedConn{Conn: conn, input: input, closed: make(chan struct{})}
}

// exchanged counts another key exchange.
func (c *pacedConn) exchanged() { c.input.ReserveN(time.Now(), connectionBytes) }

// Read implements net.Conn. It returns after the bytes that it has read fit the rate.
func (c *pacedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b[:min(len(b), maxRead)])
	if n == 0 {
		return n, err
	}
	delay := c.input.ReserveN(time.Now(), n).Delay()
	if delay <= 0 {
		return n, err
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return n, err
	case <-c.closed:
		return 0, net.ErrClosed
	}
}

// Close implements net.Conn. It ends a Read that waits.
func (c *pacedConn) Close() error {
	c.closeOnce.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// maxUnread is the number of bytes that may wait in a session's input, which is more than the longest
// paste that a terminal takes.
const maxUnread = 128 << 10

// input is a channel whose data is read as soon as it arrives, and waits until the session reads it.
// If more than maxUnread bytes wait, the rest is dropped. The SSH library would hold up to 2 MB for
// each channel and take 50 bytes for each of them if the client sends them one by one.
type input struct {
	gossh.Channel

	mu     sync.Mutex
	more   sync.Cond // signals a change to unread or err; uses mu
	unread []byte
	err    error // why there is no more input, or nil
}

func newInput(from gossh.Channel) *input {
	in := &input{Channel: from}
	in.more.L = &in.mu
	return in
}

// Read implements io.Reader.
func (in *input) Read(b []byte) (int, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for len(in.unread) == 0 && in.err == nil {
		in.more.Wait()
	}
	if len(in.unread) == 0 {
		return 0, in.err
	}
	n := copy(b, in.unread)
	if in.unread = in.unread[n:]; len(in.unread) == 0 {
		in.unread = nil // release the memory
	}
	return n, nil
}

// collect reads the channel's data until the channel is closed.
func (in *input) collect(closed <-chan struct{}) {
	readAll(in.Channel, closed, func(b []byte, err error) {
		in.mu.Lock()
		defer in.mu.Unlock()
		if in.err == nil {
			in.unread, in.err = append(in.unread, b[:min(len(b), maxUnread-len(in.unread))]...), err
		}
		in.more.Broadcast()
	})
}

// discard reads and drops the data that the client sends on the channel's stream for errors, until
// the channel is closed. No session uses that data.
func (in *input) discard(closed <-chan struct{}) {
	readAll(in.Channel.Stderr(), closed, func([]byte, error) {})
}

// readAll calls do with what it reads, and with io.EOF at the end of the data, until the channel is
// closed. A hostile client may send more after the end.
func readAll(from io.Reader, closed <-chan struct{}, do func(b []byte, err error)) {
	buffer := make([]byte, 1024)
	for {
		n, err := from.Read(buffer)
		do(buffer[:n], err)
		if err == nil {
			continue
		}
		select {
		case <-closed:
			return
		case <-time.After(time.Second):
		}
	}
}
