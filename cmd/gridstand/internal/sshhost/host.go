// Package sshhost serves a terminal program to SSH clients. It accepts connections,
// identifies players by the SSH key that their client authenticated with, and calls
// Config.Serve for each session. There is no shell: clients can only run a fixed set of
// commands.
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

// Config specifies what a host serves, and its limits.
type Config struct {
	// HostKey identifies the host to clients; see HostKey.
	HostKey gossh.Signer
	// Serve runs a session until the user leaves it or ctx is done, and returns its exit
	// code. It may be called concurrently. If it panics, only its session ends.
	Serve func(ctx context.Context, s *Session) int
	// Command is the start of the commands that reach the host, such as "ssh -t play.example".
	Command string
	// Logger logs the start and the end of each session.
	Logger *slog.Logger
	Limits Limits
	// StopTimeout limits how long a stopping host waits for sessions to end on their own.
	StopTimeout time.Duration
}

// Reasons why the host ends a session. All except errGone are shown to the user.
var (
	errStopping = errors.New("this host is stopping; connect again in a moment")
	errIdle     = errors.New("the session was ended because no key was pressed for a long time; connect again to continue")
	errTooLong  = errors.New("the session reached the maximum duration; connect again to continue")
	errGone     = errors.New("the client closed the session")
)

// host holds the state of Serve.
type host struct {
	config Config
	server *ssh.Server
	// These counters enforce the limits.
	sessionCount, connectionCount, cellCount *counter
	budgets                                  *budgets
	// sessions ends when the host stops, with errStopping as its cause. connections ends
	// later and closes the remaining connections.
	sessions, connections context.Context

	mu       sync.Mutex
	stopping bool
	running  sync.WaitGroup // sessions; call Add only with mu held and while not stopping
}

// begin counts a session, or returns false if the host is stopping.
func (h *host) begin() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.stopping {
		h.running.Add(1)
	}
	return !h.stopping
}

// Serve accepts SSH connections until ctx is done, and then ends all sessions. It closes
// the listener. If the listener failed, Serve returns its error.
func Serve(ctx context.Context, listener net.Listener, c Config) error {
	sessions, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	connections, closeAll := context.WithCancel(context.WithoutCancel(ctx))
	defer closeAll()
	h := &host{
		config: c, sessions: sessions, connections: connections,
		sessionCount:    newCounter(c.Limits.Sessions, c.Limits.SessionsPerAddress),
		connectionCount: newCounter(2*c.Limits.Sessions, 2*c.Limits.SessionsPerAddress),
		cellCount:       newCounter(maxCells, maxCellsPerAddress),
		budgets:         newBudgets(),
	}
	h.server = &ssh.Server{
		Version:              "Gridstand",
		Handler:              h.handle,
		ConnCallback:         h.connected,
		ServerConfigCallback: h.serverConfig,
		// A client without a key logs in as a guest, without any prompt. The handler is
		// necessary: without any handler, the library would accept the method "none",
		// which clients try first, and every client would be a guest.
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
	// If a client does not close its session in time, close its connection.
	late := time.AfterFunc(c.StopTimeout, closeAll)
	h.running.Wait()
	late.Stop()
	closeAll()
	accepted.Wait()
	return err
}

// acceptPause is the pause after an error from Accept, for example because the process has
// too many open files.
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
			h.config.Logger.Warn("cannot accept a connection", "id", "ssh-not-accepted", "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(acceptPause):
			}
			continue
		}
		release, err := h.connectionCount.take(conn.RemoteAddr(), 1)
		if err != nil {
			h.config.Logger.Debug("connection refused", "address", conn.RemoteAddr().String(), "reason", err)
			_ = conn.Close()
			continue
		}
		conn = newPacedConn(conn, h.budgets.get(conn.RemoteAddr()).input)
		all.Go(func() {
			defer release()
			defer h.recovered("connection", conn.RemoteAddr())
			defer func() { _ = conn.Close() }()
			h.server.HandleConn(conn)
		})
	}
}

// recovered recovers from a panic and logs it, so that it ends only the current goroutine.
// It must be deferred.
func (h *host) recovered(what string, address net.Addr) {
	if r := recover(); r != nil {
		h.config.Logger.Error("panic", "id", "ssh-panicked", "in", what, "address", address.String(), "panic", r, "stack", string(debug.Stack()))
	}
}

// connected stores the client of a new connection in ctx, and closes the connection when
// the host stops. It implements ssh.ConnCallback.
func (h *host) connected(ctx ssh.Context, conn net.Conn) net.Conn {
	c := newClient(conn, h.config.Limits)
	ctx.SetValue(clientKey{}, c)
	closing := context.AfterFunc(h.connections, c.close)
	context.AfterFunc(ctx, func() { // The context is canceled when the connection closes.
		c.unused.Stop()
		closing()
	})
	return conn
}

// refuse rejects a channel that is not a session. It implements ssh.ChannelHandler.
func refuse(_ *ssh.Server, _ *gossh.ServerConn, channel gossh.NewChannel, ctx ssh.Context) {
	_, decided, ok := channelRequested(ctx)
	if !ok {
		return
	}
	defer decided()
	_ = channel.Reject(gossh.Prohibited, "only games are served here: no forwarding")
}
