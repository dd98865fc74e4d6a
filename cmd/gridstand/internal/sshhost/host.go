// Package sshhost serves a terminal program to SSH clients. It accepts connections,
// identifies players by the SSH key that their client authenticated with, and calls
// Config.Serve with the command line of each session. There is no shell.
package sshhost

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"runtime/debug"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	gossh "golang.org/x/crypto/ssh"
)

// Config specifies what a host serves, and its limits.
type Config struct {
	// HostKey identifies the host to clients; see HostKey.
	HostKey gossh.AlgorithmSigner
	// Serve runs a session until the user leaves it or ctx is done, and returns its exit
	// code. It may be called concurrently. If it panics, only its session ends.
	Serve func(ctx context.Context, s *Session) int
	// Logger logs the start and the end of each session.
	Logger  *slog.Logger
	Metrics *Metrics
	Limits  Limits
	// StopTimeout limits how long a stopping host waits for sessions to end on their own.
	StopTimeout time.Duration
}

// Reasons why the host ends a session. All except errGone are shown to the user.
var (
	errStopping = errors.New("this host is stopping; connect again in a moment")
	errIdle     = errors.New("the session was ended because no key was pressed for a long time; connect again to continue")
	errGone     = errors.New("the client closed the session")
)

// host holds the state of Serve.
type host struct {
	config  Config
	clients clients
	// shares holds the share of each address that was used recently. Only accept uses it.
	shares *simplelru.LRU[netip.Prefix, share]
	// sessions ends when the host stops, with errStopping as its cause. connections ends
	// later and closes the remaining connections.
	sessions, connections context.Context
}

// Serve accepts SSH connections until ctx is done, and then ends all sessions. It closes
// the listener. If the listener failed, Serve returns its error.
func Serve(ctx context.Context, listener net.Listener, c Config) error {
	sessions, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	connections, closeAll := context.WithCancel(context.WithoutCancel(ctx))
	defer closeAll()
	shares, _ := simplelru.NewLRU[netip.Prefix, share](maxShares, nil) // fails only for a negative size
	h := &host{config: c, clients: clients{limits: c.Limits}, shares: shares, sessions: sessions, connections: connections}

	var accepted sync.WaitGroup
	defer context.AfterFunc(ctx, func() { _ = listener.Close() })()
	err := h.accept(ctx, listener, &accepted)

	stop(errStopping)
	// If a client does not close its session in time, close its connection.
	defer time.AfterFunc(c.StopTimeout, closeAll).Stop()
	h.clients.stop()
	closeAll()
	accepted.Wait()
	return err
}

// acceptPause is the pause after an error from Accept, for example because the process has
// too many open files.
const acceptPause = 200 * time.Millisecond

// accept handles connections until the listener is closed, which ctx does.
func (h *host) accept(ctx context.Context, listener net.Listener, all *sync.WaitGroup) error {
	for {
		conn, err := listener.Accept()
		switch {
		case err == nil:
			c := h.newClient(conn)
			h.clients.add(c)
			all.Go(func() { h.connection(c) })
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		default:
			h.config.Logger.Warn("cannot accept a connection", "id", "ssh-not-accepted", "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(acceptPause):
			}
		}
	}
}

// recovered recovers from a panic and logs it, so that it ends only the current goroutine.
// It must be deferred.
func (h *host) recovered(what string, address net.Addr) {
	if r := recover(); r != nil {
		h.config.Logger.Error("panic",
			"id", "ssh-panicked", "in", what, "address", address.String(), "panic", r, "stack", string(debug.Stack()))
	}
}

// connection serves a client until its connection ends. It answers the client's requests for
// channels one after another, so a client that does not read the answers waits.
func (h *host) connection(c *client) {
	defer h.recovered("connection", c.RemoteAddr())
	defer h.clients.remove(c)
	defer c.waiting.Stop()
	defer c.close()
	conn, channels, requests, err := gossh.NewServerConn(c, h.serverConfig(c))
	if err != nil {
		h.config.Logger.Debug("no login", "address", c.RemoteAddr().String(), "reason", err)
		return
	}
	var sessions sync.WaitGroup
	defer sessions.Wait()
	sessions.Go(func() { gossh.DiscardRequests(requests) })
	for requested := range channels {
		if requested.ChannelType() != "session" {
			_ = requested.Reject(gossh.Prohibited, "only games are served here: no forwarding")
			continue
		}
		if err := h.clients.begin(c); err != nil {
			h.config.Metrics.refused(err)
			_ = requested.Reject(gossh.ResourceShortage, err.Error())
			continue
		}
		c.charge(sessionBytes)
		h.config.Metrics.sessions.Inc()
		sessions.Go(func() {
			defer h.clients.finish(c)
			defer h.config.Metrics.sessions.Dec()
			defer h.recovered("session", c.RemoteAddr())
			if accepted, requests, err := requested.Accept(); err == nil {
				newChannel(h, c, conn, accepted).serve(requests)
			}
		})
	}
}
