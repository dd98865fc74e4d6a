package sshhost

import (
	"net/netip"
	"slices"
	"sync"
)

// maxPlaces is the number of connections without a session, most of which have not logged in yet. If there
// is no place for another one, the address with most of them loses the one that has waited longest.
const maxPlaces = 256

// clients are the open connections. Those without a session are in the order in which they
// began to wait for one.
type clients struct {
	limits Limits

	mu      sync.Mutex
	all     []*client
	stopped bool
	running sync.WaitGroup // sessions; call Add only with mu held and while not stopped
}

// add adds a new connection.
func (l *clients) add(c *client) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.makeRoom()
	l.all = append(l.all, c)
}

// makeRoom closes a connection if there is no place for another one.
func (l *clients) makeRoom() {
	waiting, most, of := 0, []*client(nil), map[netip.Prefix][]*client{}
	for _, c := range l.all {
		if c.sessions > 0 || c.closed.Err() != nil {
			continue
		}
		waiting++
		of[c.network] = append(of[c.network], c)
		if near := of[c.network]; len(near) > len(most) {
			most = near
		}
	}
	if waiting >= maxPlaces {
		most[0].refuse(errPlaces)
	}
}

// remove removes a connection that has ended.
func (l *clients) remove(c *client) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = slices.DeleteFunc(l.all, func(other *client) bool { return other == c })
}

// begin counts a session of a connection until finish is called, or returns the reason why it is
// refused.
func (l *clients) begin(c *client) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	total, near := 0, 0
	for _, other := range l.all {
		total += other.sessions
		if other.network == c.network {
			near += other.sessions
		}
	}
	switch {
	case l.stopped:
		return errStopping
	case total >= l.limits.Sessions:
		return errFull
	case near >= l.limits.SessionsPerAddress:
		return errAddressFull
	}
	l.running.Add(1)
	c.sessions++
	c.waiting.Stop()
	return nil
}

// finish ends a session. After its last one, a connection needs a place again.
func (l *clients) finish(c *client) {
	defer l.running.Done()
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.sessions == 1 {
		l.makeRoom()
		l.all = append(slices.DeleteFunc(l.all, func(other *client) bool { return other == c }), c)
		c.waiting.Reset(loginTimeout)
	}
	c.sessions--
}

// stop refuses further sessions and waits until the others have ended.
func (l *clients) stop() {
	l.mu.Lock()
	l.stopped = true
	l.mu.Unlock()
	l.running.Wait()
}
