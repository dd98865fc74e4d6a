// Package sshhost serves a terminal program to SSH clients. It accepts connections,
// identifies players by the key that their client proved to have, and calls
// Config.Serve for each session. There is no shell: a client can ask for a screen by a
// fixed list of words, and for nothing else.
package sshhost

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gliderlabs/ssh"
	gossh "golang.org/x/crypto/ssh"
)

// Config says what a host serves, and within which limits.
type Config struct {
	// HostKey identifies the host to clients; see HostKey.
	HostKey gossh.Signer
	// Serve runs a session until the user leaves it or ctx ends, and returns its exit
	// code. It may be called concurrently. If it panics, only its session ends.
	Serve func(ctx context.Context, s *Session) int
	// Logger gets a line when a session starts and one when it ends.
	Logger *slog.Logger
	Limits Limits
	// StopTimeout is how long a stop waits for sessions to end by themselves.
	StopTimeout time.Duration
}

// Errors that end a session from the host's side. Their texts are shown to the user.
var (
	errStopping = errors.New("this host is stopping; connect again in a moment")
	errIdle     = errors.New("no key was pressed for a long time, so the session was ended; connect again to continue")
	errTooLong  = errors.New("the session reached the maximum duration; connect again to continue")
	errGone     = errors.New("the client closed the session")
)

// host is the state of Serve.
type host struct {
	config Config
	server *ssh.Server
	// sessionCount and connectionCount hold the limits.
	sessionCount, connectionCount *counter
	// sessions ends when the host stops, with errStopping as its cause; connections
	// ends after that, and closes what is still connected.
	sessions, connections context.Context

	mu       sync.Mutex
	stopping bool
	running  sync.WaitGroup // sessions; Add only under mu and while not stopping
}

// begin counts a session, unless the host is stopping.
func (h *host) begin() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.stopping {
		h.running.Add(1)
	}
	return !h.stopping
}

// Serve accepts SSH connections until ctx ends, and then ends all sessions. It closes
// the listener. The error is that of the listener if it failed.
func Serve(ctx context.Context, listener net.Listener, c Config) error {
	sessions, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	connections, closeAll := context.WithCancel(context.WithoutCancel(ctx))
	defer closeAll()
	h := &host{
		config: c, sessions: sessions, connections: connections,
		sessionCount:    newCounter(c.Limits.Sessions, c.Limits.SessionsPerAddress),
		connectionCount: newCounter(2*c.Limits.Sessions, 2*c.Limits.SessionsPerAddress),
	}
	h.server = &ssh.Server{
		HostSigners:          []ssh.Signer{c.HostKey},
		Version:              "Gridstand",
		Handler:              h.handle,
		ConnCallback:         h.connected,
		ServerConfigCallback: func(ssh.Context) *gossh.ServerConfig { return authentication() },
		// A client without a key logs in without a question, as a guest. It has to be
		// here: with none of its own handlers set, the library accepts the method none.
		KeyboardInteractiveHandler: func(ssh.Context, gossh.KeyboardInteractiveChallenge) bool { return true },
		ChannelHandlers:            map[string]ssh.ChannelHandler{"session": h.session, "default": refuse},
	}

	var accepted sync.WaitGroup
	stopListening := context.AfterFunc(ctx, func() { _ = listener.Close() })
	err := h.accept(ctx, listener, &accepted)
	stopListening()
	_ = listener.Close()
	if ctx.Err() != nil {
		err = nil
	}

	h.mu.Lock()
	h.stopping = true
	h.mu.Unlock()
	stop(errStopping)
	// If a client does not close its session in time, its connection is closed.
	late := time.AfterFunc(c.StopTimeout, closeAll)
	h.running.Wait()
	late.Stop()
	closeAll()
	accepted.Wait()
	return err
}

// acceptPause is the pause after a connection could not be accepted, for example
// because the process has too many open files.
const acceptPause = 200 * time.Millisecond

// accept handles connections until the listener is closed.
func (h *host) accept(ctx context.Context, listener net.Listener, all *sync.WaitGroup) error {
	for {
		conn, err := listener.Accept()
		switch {
		case err == nil:
		case ctx.Err() != nil, errors.Is(err, net.ErrClosed):
			return err
		default:
			h.config.Logger.Warn("cannot accept a connection", "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(acceptPause):
			}
			continue
		}
		release, err := h.connectionCount.take(conn.RemoteAddr())
		if err != nil {
			h.config.Logger.Debug("connection refused", "address", conn.RemoteAddr().String(), "reason", err)
			_ = conn.Close()
			continue
		}
		all.Go(func() {
			defer release()
			defer h.recovered("connection", conn.RemoteAddr())
			defer func() { _ = conn.Close() }()
			h.server.HandleConn(conn)
		})
	}
}

// recovered logs a panic, which then ends no more than the goroutine's work. It is
// called by defer.
func (h *host) recovered(what string, address net.Addr) {
	if r := recover(); r != nil {
		h.config.Logger.Error("panic", "in", what, "address", address.String(), "panic", r, "stack", string(debug.Stack()))
	}
}

// connected makes the client of a new connection. It implements ssh.ConnCallback.
func (h *host) connected(ctx ssh.Context, conn net.Conn) net.Conn {
	c := newClient(conn, h.config.Limits)
	ctx.SetValue(clientKey{}, c)
	closing := context.AfterFunc(h.connections, c.close)
	context.AfterFunc(ctx, func() { // The context ends with the connection.
		c.unused.Stop()
		closing()
	})
	return conn
}

// refuse refuses a channel that is not a session. It implements ssh.ChannelHandler.
func refuse(_ *ssh.Server, _ *gossh.ServerConn, channel gossh.NewChannel, _ ssh.Context) {
	_ = channel.Reject(gossh.Prohibited, "only games are served here: no forwarding")
}
