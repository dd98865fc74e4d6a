package sshhost

import (
	"context"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/gridstand/gridstand/internal/netaddr"
)

// client is a connection, which is read at the rate of its address.
type client struct {
	net.Conn
	metrics *Metrics
	network netip.Prefix
	share   // of its address
	// closed is done when the host closes the connection, which close does.
	closed context.Context
	close  context.CancelFunc
	// waiting closes the connection if it has no session for too long.
	waiting  *time.Timer
	greeted  sync.Once // with the first exchange of keys
	sessions int       // open ones; clients.mu protects it
}

// newClient returns a connection that closes when the host stops.
func (h *host) newClient(conn net.Conn) *client {
	c := &client{Conn: conn, metrics: h.config.Metrics, network: netaddr.Network(netaddr.Of(conn.RemoteAddr()))}
	if tcp, ok := conn.(interface{ SetWriteBuffer(bytes int) error }); ok {
		_ = tcp.SetWriteBuffer(writeBuffer)
	}
	var known bool
	if c.share, known = h.shares.Get(c.network); !known {
		places := max(1, runtime.GOMAXPROCS(0)/2)
		c.share = share{rate.NewLimiter(bytesPerSecond, bytesBurst), make(chan struct{}, places)}
		h.shares.Add(c.network, c.share)
	}
	c.closed, c.close = context.WithCancel(h.connections)
	context.AfterFunc(c.closed, func() { _ = conn.Close() })
	c.waiting = time.AfterFunc(silentTimeout, func() { c.refuse(errLogin) })
	return c
}

// refuse closes the connection, which has no session, and counts the reason.
func (c *client) refuse(why error) {
	c.metrics.refused(why)
	c.close()
}

// Read implements net.Conn. It returns after the bytes that it has read fit the rate.
func (c *client) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n == 0 {
		return n, err
	}
	if c.rate.WaitN(c.closed, n) != nil {
		return 0, net.ErrClosed
	}
	return n, err
}

// Write implements net.Conn. It closes the connection if the client has left, because Read notices this
// only after it has read, at its rate, what the client had sent.
func (c *client) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if err != nil {
		c.close()
	}
	return n, err
}

// charge delays what the client's address sends next as if it had sent n more bytes.
func (c *client) charge(n int) { c.rate.ReserveN(time.Now(), n) }

// turn waits until a session may draw a frame, or until ctx is done. The caller draws the frame and
// calls end.
func (c *client) turn(ctx context.Context) (end func()) {
	select {
	case c.turns <- struct{}{}:
	case <-ctx.Done():
		return func() {}
	}
	began := time.Now()
	return func() { time.AfterFunc(renderFactor*time.Since(began), func() { <-c.turns }) }
}

// exchanged counts an exchange of keys, which takes up to a few milliseconds of processor
// time. Clients may ask for one at any time.
func (c *client) exchanged() {
	c.charge(exchangeBytes)
	c.greeted.Do(func() {
		if c.waiting.Stop() {
			c.waiting.Reset(loginTimeout) // The user may have to confirm the host's key.
		}
	})
}
