package sshhost

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/gliderlabs/ssh"
	gossh "golang.org/x/crypto/ssh"
)

// clientKey is the key of the *client in the context of a connection.
type clientKey struct{}

// client is one client connection.
type client struct {
	conn   net.Conn
	limits Limits

	// unused closes the connection once it has had no session for the login timeout.
	unused *time.Timer

	mu        sync.Mutex
	undecided int // number of requested channels that were neither accepted nor refused yet
	open      int // number of open channels
	running   int // number of running sessions
}

func newClient(conn net.Conn, l Limits) *client {
	c := &client{conn: conn, limits: l}
	c.unused = time.AfterFunc(l.Login, c.close)
	return c
}

// close closes the connection without waiting for pending reads or writes.
func (c *client) close() { _ = c.conn.Close() }

// maxUndecided is the maximum number of channels of a connection that wait to be accepted
// or refused. A client waits for a few at most, unless it does not read.
const maxUndecided = 256

// request counts a requested channel until decided is called. It returns false, and closes
// the connection, if too many requests wait for the client to read the answers.
func (c *client) request() (decided func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.undecided >= maxUndecided {
		c.close()
		return nil, false
	}
	c.undecided++
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.undecided--
	}), true
}

// channelRequested returns the client that requested a channel, and counts the channel; see
// request.
func channelRequested(ctx ssh.Context) (c *client, decided func(), ok bool) {
	if c, ok = ctx.Value(clientKey{}).(*client); !ok {
		return nil, nil, false
	}
	decided, ok = c.request()
	return c, decided, ok
}

// openChannel counts a channel and reports whether another one is allowed.
func (c *client) openChannel() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open >= c.limits.SessionsPerConnection {
		return false
	}
	c.open++
	return true
}

func (c *client) closeChannel() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
}

// begin records that a session has started.
func (c *client) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running++
	c.unused.Stop()
}

// end records that a session has ended.
func (c *client) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running--; c.running == 0 {
		c.unused.Reset(c.limits.Login)
	}
}

// keepAlive probes the client regularly until ctx is done, and closes the connection if no
// answer arrives. This ends the sessions of clients that hang or are unreachable.
func (c *client) keepAlive(ctx context.Context, conn gossh.Conn) {
	every := time.NewTicker(c.limits.Stall / 2)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		overdue := time.AfterFunc(c.limits.Stall, c.close)
		_, _, err := conn.SendRequest("keepalive@openssh.com", true, nil)
		overdue.Stop()
		if err != nil {
			return
		}
	}
}
