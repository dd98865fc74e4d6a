package app

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/origin"
)

// fakeConn is a connection of which nothing is read.
type fakeConn struct {
	net.Conn
	peer     net.Addr
	closed   bool
	deadline time.Time
}

func (c *fakeConn) RemoteAddr() net.Addr               { return c.peer }
func (c *fakeConn) Write(b []byte) (int, error)        { return len(b), nil }
func (c *fakeConn) Close() error                       { c.closed = true; return nil }
func (c *fakeConn) SetReadDeadline(at time.Time) error { c.deadline = at; return nil }
func peerOf(address string, port int) (addr *net.TCPAddr) {
	return &net.TCPAddr{IP: net.ParseIP(address), Port: port}
}

// connections makes a listener, and connections of an address, counted from 1.
func connections(t *testing.T, l *listener, address string, n int) (fakes []*fakeConn, counted []*counted) {
	t.Helper()
	for port := range n {
		fake := &fakeConn{peer: peerOf(address, port+1)}
		c := l.enter(fake)
		require.NotNil(t, c)
		fakes, counted = append(fakes, fake), append(counted, c)
	}
	return fakes, counted
}

func newTestListener(t *testing.T) *listener {
	t.Helper()
	proxies, err := origin.ParseProxies("10.0.0.1")
	require.NoError(t, err)
	return newListener(nil, 100, 10, proxies, func() {})
}

// Ensure a connection is closed that leaves too much unread, and none that reads.
func TestListener_Answered(t *testing.T) {
	t.Parallel()
	l := newTestListener(t)
	fakes, counted := connections(t, l, "192.0.2.1", 2)
	for range 3 {
		for _, c := range counted {
			l.answered(c.RemoteAddr(), maxUnread)
			require.False(t, fakes[0].closed || fakes[1].closed)
		}
		_, err := counted[0].Write(make([]byte, maxUnread+1))
		require.NoError(t, err)
		_, err = counted[1].Write(make([]byte, maxUnread))
		require.NoError(t, err)
	}
	l.answered(counted[0].RemoteAddr(), maxUnread+1)
	assert.True(t, fakes[0].closed)
	assert.False(t, fakes[1].closed)
	assert.Equal(t, 1, l.connections())
	l.answered(counted[0].RemoteAddr(), maxUnread+1) // It has gone.
	assert.Zero(t, l.places["192.0.2.1"].unread.Load())
}

// Ensure the connections of an address together leave no more unread than they
// may, that those which leave little stay, and those of others and of proxies.
func TestListener_AnsweredAddress(t *testing.T) {
	t.Parallel()
	l := newTestListener(t)
	const full = maxUnreadAddress / maxUnread
	fakes, counted := connections(t, l, "192.0.2.1", full+2)
	for _, c := range counted[:full] {
		l.answered(c.RemoteAddr(), maxUnread)
	}
	l.answered(counted[full].RemoteAddr(), littleUnread)
	l.answered(counted[full+1].RemoteAddr(), littleUnread+1)
	for i, fake := range fakes {
		assert.Equal(t, i == full+1, fake.closed, i)
	}
	others, theirs := connections(t, l, "192.0.2.2", 1)
	l.answered(theirs[0].RemoteAddr(), maxUnread)
	assert.False(t, others[0].closed)
	proxies, proxied := connections(t, l, "10.0.0.1", 1)
	l.answered(proxied[0].RemoteAddr(), 2*maxUnreadAddress)
	assert.False(t, proxies[0].closed)

	for _, c := range append(append(counted, theirs...), proxied...) {
		require.NoError(t, c.Close())
	}
	assert.Zero(t, l.connections())
	assert.Empty(t, l.places)
	assert.Empty(t, l.peers)
}

// Ensure an address opens no more connections in a second than it may, however
// soon it closes them, but for proxies.
func TestListener_Pace(t *testing.T) {
	t.Parallel()
	l := newTestListener(t)
	took := func(address string, n int) (taken int) {
		for port := range n {
			if c := l.enter(&fakeConn{peer: peerOf(address, port+1)}); c != nil {
				taken++
				require.NoError(t, c.Close())
			}
		}
		return taken
	}
	taken := took("192.0.2.1", 300)
	assert.GreaterOrEqual(t, taken, 100)
	assert.Less(t, taken, 300)
	assert.Equal(t, 100, took("192.0.2.2", 100))
	assert.Equal(t, 300, took("10.0.0.1", 300))
	assert.Empty(t, l.places)
}

// Ensure a connection that is to end does so, however many streams of it are not
// read one after the other, and a proxy's does not.
func TestListener_HangUp(t *testing.T) {
	t.Parallel()
	l := newTestListener(t)
	fakes, counted := connections(t, l, "192.0.2.1", 2)
	proxies, proxied := connections(t, l, "10.0.0.1", 1)
	l.hangUp(counted[0].RemoteAddr(), time.Minute)
	l.hangUp(proxied[0].RemoteAddr(), time.Minute)
	l.hangUp(&net.UnixAddr{}, time.Minute)
	l.hangUp(counted[0].RemoteAddr(), time.Hour) // Another stream of it is not read either.
	assert.WithinDuration(t, time.Now().Add(time.Minute), fakes[0].deadline, 30*time.Second)
	assert.Zero(t, fakes[1].deadline)
	assert.Zero(t, proxies[0].deadline)
}
