package sshhost

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"net/netip"
	"time"

	tea "charm.land/bubbletea/v2"
	gossh "golang.org/x/crypto/ssh"
)

// Session is a screen or command that the host runs for a client.
type Session struct {
	// Line is the command line that the client sent, as it is.
	Line string
	// Key is the fingerprint of the public key that the client authenticated with; empty for a guest.
	Key string
	// Address is the client's IP address.
	Address netip.Addr

	// Terminal reports whether the client has a terminal whose cursor can be moved. Without any
	// terminal, Err is a separate stream, Size and Resized are not set, and Env has no TERM.
	Terminal bool
	// Keys delivers what the user types, in parts, until the client ends the input. Parts that
	// arrive while maxParts of them wait are dropped.
	Keys     <-chan []byte
	Out, Err io.Writer
	// Size is the size of the terminal when the session started. Resized delivers the
	// latest size after each change.
	Size    Size
	Resized <-chan Size
	// Pace waits until the session may handle the next key, mouse movement or size of its
	// terminal. It returns an error if ctx is done first. What arrives faster must be dropped,
	// not left unread.
	Pace func(ctx context.Context) error
	// Turn waits until the session may draw a frame of its screen, or until ctx is done. The
	// session then draws the frame and calls end.
	Turn func(ctx context.Context) (end func())
	// Env contains the terminal's TERM and the client's variables for language and
	// colors.
	Env []string
}

// Size is the size of a terminal, in cells.
type Size = tea.WindowSizeMsg

// exitFailed is the exit code of sessions that the host ends.
const exitFailed = 1

// maxLogged is the maximum length of a command line in the log.
const maxLogged = 256

// run runs and logs the session of a channel, and then closes the channel.
func (ch *channel) run() {
	h, s, code, start := ch.host, &ch.session, exitFailed, time.Now()
	log := h.config.Logger.With("address", s.Address.String(), "key", cmp.Or(s.Key, "none"))
	log.Info("session started", "command", printable(s.Line, maxLogged), "terminal", s.Terminal)
	ctx, end := context.WithCancelCause(h.sessions)
	defer end(nil)
	defer context.AfterFunc(ch.closed, func() { end(errGone) })()
	defer func() {
		if why := context.Cause(ctx); why != nil {
			log = log.With("reason", why)
			if !errors.Is(why, errGone) {
				_, _ = io.WriteString(s.Err, why.Error()+".\n")
			}
		}
		log.Info("session ended", "code", code, "duration", time.Since(start).Round(time.Millisecond))
		_, _ = ch.SendRequest("exit-status", false, gossh.Marshal(struct{ Code uint32 }{uint32(code)})) //nolint:gosec // small
		_ = ch.Close()
	}()
	defer h.recovered("session", ch.client.RemoteAddr())
	defer ch.unused.Reset(loginTimeout)
	limit := cmp.Or(h.config.Limits.Idle, math.MaxInt64) // 0 means no limit
	idle := time.AfterFunc(limit, func() { end(errIdle) })
	keys := make(chan []byte, maxParts)
	s.Keys = keys
	ch.own.Go(func() {
		defer idle.Stop() // The client may still send keys when the session has ended.
		ch.read(keys, s.Terminal, func() { idle.Reset(limit) })
	})
	code = h.config.Serve(ctx, s)
}

// The input of a session that waits, in parts of at most maxPart bytes: twice the longest paste that the
// terminal program accepts.
const (
	maxPart  = 1 << 10
	maxParts = 136
)

// read passes what the client sends on to the session, which reads it only on a terminal, and
// calls pressed for each part. The SSH library would hold 2 MB that the session does not read, and
// take 50 bytes for each of them.
func (ch *channel) read(keys chan<- []byte, terminal bool, pressed func()) {
	buffer := make([]byte, maxPart)
	for terminal {
		n, err := ch.Read(buffer)
		if n > 0 {
			pressed()
			select {
			case keys <- bytes.Clone(buffer[:n]):
			default: // The user cannot press keys this fast.
			}
		}
		terminal = err == nil
	}
	close(keys)
	ch.drain(ch.Channel)
}
