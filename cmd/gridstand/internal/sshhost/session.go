package sshhost

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/gliderlabs/ssh"
	gossh "golang.org/x/crypto/ssh"
)

// Session is a screen or command that the host runs for a client.
type Session struct {
	// Command is the command that the client requested.
	Command Command
	// Key is the public key that the client authenticated with; nil for a guest.
	Key gossh.PublicKey
	// User is the login name that the client sent. It is not verified.
	User string
	// Address is the client's IP address.
	Address netip.Addr

	// Terminal reports whether the client has a terminal. If not, Err is a separate stream,
	// Size and Resized are not set, and Env has no TERM.
	Terminal bool
	In       io.Reader
	Out, Err io.Writer
	// Size is the size of the terminal when the session started. Resized delivers the
	// latest size after each change.
	Size    Size
	Resized <-chan Size
	// Pace waits until the session may handle the next key, mouse movement or size of its
	// terminal. It returns an error if ctx is done first.
	Pace func(ctx context.Context) error
	// Env contains the terminal's TERM and the client's variables for language and
	// colors.
	Env []string
}

// Size is the size of a terminal, in cells.
type Size = tea.WindowSizeMsg

// Exit codes of sessions that the host ends.
const (
	exitFailed = 1
	exitUsage  = 2
)

// session handles a channel of type session until it is closed. It implements
// ssh.ChannelHandler.
func (h *host) session(server *ssh.Server, conn *gossh.ServerConn, requested gossh.NewChannel, ctx ssh.Context) {
	c, decided, ok := channelRequested(ctx)
	if !ok {
		return
	}
	defer decided()
	if !h.begin() {
		_ = requested.Reject(gossh.ConnectionFailed, errStopping.Error())
		return
	}
	defer h.running.Done()
	defer h.recovered("session", conn.RemoteAddr())
	if !c.openChannel() {
		_ = requested.Reject(gossh.ResourceShortage, "too many sessions on this connection")
		return
	}
	defer c.closeChannel()
	release, err := h.sessionCount.take(conn.RemoteAddr(), 1)
	if err != nil {
		_ = requested.Reject(gossh.ResourceShortage, err.Error())
		return
	}
	defer release()
	accepted, requests, err := requested.Accept()
	decided()
	if err != nil {
		return
	}
	cells := h.cellCount.share(conn.RemoteAddr())
	defer func() { _ = cells.set(0) }()
	ch := newChannel(ctx, accepted, c, cells.set)
	var own sync.WaitGroup
	defer own.Wait()
	own.Go(func() { ch.filter(requests) })
	own.Go(func() { ch.collect(ch.closed.Done()) })
	own.Go(func() { ch.discard(ch.closed.Done()) })
	own.Go(func() { c.keepAlive(ch.closed, conn) })
	ssh.DefaultSessionHandler(server, conn, ch, &channelContext{Context: ctx, channel: ch})
	ch.handler.Wait()
}

// channelContext lets the handler of a session find its channel.
type channelContext struct {
	ssh.Context
	channel *channel
}

// handle runs a session. It implements ssh.Handler.
func (h *host) handle(s ssh.Session) {
	c, ok := s.Context().(*channelContext)
	if !ok {
		return
	}
	ch := c.channel
	defer ch.handler.Done()
	code := exitFailed
	defer func() { _ = s.Exit(code) }()
	defer h.recovered("session", s.RemoteAddr())
	ch.client.begin()
	defer ch.client.end()

	ctx, end := context.WithCancelCause(h.sessions)
	defer end(nil)
	defer context.AfterFunc(ch.closed, func() { end(errGone) })()
	if d := h.config.Limits.Duration; d > 0 {
		defer time.AfterFunc(d, func() { end(errTooLong) }).Stop()
	}
	session := ch.describe(s)
	in := &keys{from: s, pressed: func() {}}
	if d := h.config.Limits.Idle; d > 0 {
		idle := time.AfterFunc(d, func() { end(errIdle) })
		defer idle.Stop()
		in.pressed = func() { idle.Reset(d) }
	}
	session.In, session.Pace = in, h.budgets.get(s.RemoteAddr()).events.Wait
	code = h.serve(ctx, session, s.RawCommand(), h.sessionLogger(s.RemoteAddr()))
	if why := context.Cause(ctx); why != nil && !errors.Is(why, errGone) {
		session.say(why.Error() + ".")
	}
}

// sessionLogger returns the logger for a session from an address. If the address has opened
// many sessions, the logger discards everything, and the next session that is logged has the
// number of those that were not.
func (h *host) sessionLogger(from net.Addr) *slog.Logger {
	hidden, ok := h.budgets.get(from).line()
	switch {
	case !ok:
		return slog.New(slog.DiscardHandler)
	case hidden > 0:
		return h.config.Logger.With("others_since_last_session", hidden)
	}
	return h.config.Logger
}

// serve runs a session and logs it.
func (h *host) serve(ctx context.Context, s *Session, line string, log *slog.Logger) int {
	log = log.With("address", s.Address.String(), "key", shortFingerprint(s.Key))
	command, err := Parse(line)
	if err == nil && command.NeedsTerminal() && slices.Contains(s.Env, "TERM=dumb") {
		s.say("Your terminal is dumb: it cannot show a game's screen. These games are live:")
		command = Command{Name: "games"}
	}
	if err == nil && command.NeedsTerminal() && !s.Terminal {
		err = errors.New("this needs a terminal: " + strings.TrimSpace(h.config.Command+" "+command.String()))
	}
	if err != nil {
		log.Info("session refused", "reason", err)
		s.say(err.Error())
		return exitUsage
	}
	s.Command = command
	start := time.Now()
	log.Info("session started", "command", command.String(), "terminal", s.Terminal)
	code := exitFailed
	defer func() {
		attributes := []any{"code", code, "duration", time.Since(start).Round(time.Millisecond)}
		if why := context.Cause(ctx); why != nil {
			attributes = append(attributes, slog.Any("reason", why))
		}
		log.Info("session ended", attributes...)
	}()
	code = h.config.Serve(ctx, s)
	return code
}

// say writes a line to the user.
func (s *Session) say(text string) {
	newline := "\n"
	if s.Terminal {
		newline = "\r\n"
	}
	_, _ = io.WriteString(s.Err, text+newline)
}

// shortFingerprint returns the beginning of a key's fingerprint, for logs.
func shortFingerprint(key gossh.PublicKey) string {
	if key == nil {
		return "none"
	}
	return gossh.FingerprintSHA256(key)[:len("SHA256:")+12]
}

// keys is the input of a session. It calls pressed after each read that returns data.
type keys struct {
	from    io.Reader
	pressed func()
}

func (k *keys) Read(b []byte) (int, error) {
	n, err := k.from.Read(b)
	if n > 0 {
		k.pressed()
	}
	return n, err
}

// patientWriter writes to a client, and closes the connection if a write takes longer than
// Limits.Stall.
type patientWriter struct {
	to     io.Writer
	client *client

	mu      sync.Mutex
	overdue *time.Timer
}

func (w *patientWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.overdue == nil {
		w.overdue = time.AfterFunc(w.client.limits.Stall, w.client.close)
	} else {
		w.overdue.Reset(w.client.limits.Stall)
	}
	defer w.overdue.Stop()
	return w.to.Write(b)
}
