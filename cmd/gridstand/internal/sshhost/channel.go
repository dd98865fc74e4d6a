package sshhost

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"github.com/gridstand/gridstand/internal/netaddr"
	"github.com/gridstand/gridstand/internal/periodic"
)

// channel is the channel of a session.
type channel struct {
	gossh.Channel
	host   *host
	client *client
	// closed is done once the client has closed the channel or the connection has ended.
	closed context.Context
	close  context.CancelFunc
	own    sync.WaitGroup // goroutines
	// unused closes the connection if the client opens a channel and does not start a session,
	// or does not close it after the session.
	unused *time.Timer

	session Session // what the client has asked for; it starts with a shell or command
	started bool
	resized chan Size // the latest size; nil without a terminal
}

func newChannel(h *host, c *client, conn *gossh.ServerConn, accepted gossh.Channel) *channel {
	ch := &channel{Channel: accepted, host: h, client: c}
	ch.session = Session{
		Key: conn.Permissions.Extensions[provedKey], Address: netaddr.Of(c.RemoteAddr()), Turn: c.turn,
		Pace: func(ctx context.Context) error { return c.rate.WaitN(ctx, eventBytes) },
		Out:  &patientWriter{to: accepted, client: c}, Err: &patientWriter{to: accepted.Stderr(), client: c},
	}
	ch.closed, ch.close = context.WithCancel(context.Background())
	ch.unused = time.AfterFunc(loginTimeout, func() { c.refuse(errLogin) })
	return ch
}

// serve answers the requests of a channel until it is closed, and waits for its session.
func (ch *channel) serve(requests <-chan *gossh.Request) {
	ch.own.Go(func() { ch.drain(ch.Stderr()) }) // No session uses what clients send there.
	for request := range requests {
		start, ok := ch.request(request)
		_ = request.Reply(ok, nil)
		if start != nil {
			ch.own.Go(start)
		}
	}
	ch.close()
	ch.own.Wait()
	ch.unused.Stop()
}

// drain drops what the client sends until the channel is closed. A hostile client may send more
// after the end of a stream.
func (ch *channel) drain(from io.Reader) {
	periodic.Run(ch.closed, time.Second, func() { _, _ = io.Copy(io.Discard, from) })
}

// Payloads of requests, RFC 4254, section 6.
type (
	ptyRequest struct {
		Term                                   string
		Columns, Rows, PixelWidth, PixelHeight uint32
		Modes                                  string
	}
	resizeRequest struct{ Columns, Rows, PixelWidth, PixelHeight uint32 }
	envRequest    struct{ Name, Value string }
	execRequest   struct{ Command string }
)

// request handles a request and reports whether it is allowed. If it starts the session,
// request returns the function that runs it.
func (ch *channel) request(request *gossh.Request) (start func(), ok bool) {
	switch request.Type {
	case "pty-req":
		return nil, !ch.started && ch.resized == nil && ch.allocate(request.Payload)
	case "env":
		return nil, !ch.started && len(ch.session.Env) < maxVariables && ch.setVariable(request.Payload)
	case "window-change":
		var r resizeRequest
		if ch.resized == nil || gossh.Unmarshal(request.Payload, &r) != nil {
			return nil, false
		}
		ch.resize(sizeOf(r.Columns, r.Rows))
		return nil, true
	case "shell", "exec":
		var r execRequest
		if ch.started || request.Type == "exec" && gossh.Unmarshal(request.Payload, &r) != nil {
			return nil, false
		}
		ch.started = true
		ch.unused.Stop()
		ch.session.Line = r.Command
		return ch.run, true
	default: // subsystems, agent forwarding, X11, signals, …
		return nil, false
	}
}

// allocate sets the terminal and reports whether it is allowed.
func (ch *channel) allocate(payload []byte) bool {
	var r ptyRequest
	if gossh.Unmarshal(payload, &r) != nil || r.Term == "" || r.Term != printable(r.Term, maxTerm) {
		return false
	}
	ch.resized = make(chan Size, 1)
	s := &ch.session
	s.Terminal = r.Term != "dumb" // whose cursor cannot be moved
	s.Size, s.Resized = sizeOf(r.Columns, r.Rows), ch.resized
	s.Env = append(s.Env, "TERM="+r.Term)
	s.Out = &patientWriter{to: ch.Channel, client: ch.client, terminal: true}
	s.Err = s.Out
	return true
}

// resize stores a size until the session takes it, replacing any earlier size.
func (ch *channel) resize(to Size) {
	select {
	case <-ch.resized:
	default:
	}
	ch.resized <- to // Only serve sends, so this does not block.
}

// setVariable sets an environment variable and reports whether it is allowed: only variables for
// the user's language and colors are.
func (ch *channel) setVariable(payload []byte) bool {
	var r envRequest
	if gossh.Unmarshal(payload, &r) != nil || r.Value != printable(r.Value, maxVariable) || r.Name != printable(r.Name, maxVariable) {
		return false
	}
	allowed := slices.Contains([]string{"LANG", "COLORTERM", "NO_COLOR"}, r.Name) || strings.HasPrefix(r.Name, "LC_")
	if allowed {
		ch.session.Env = append(ch.session.Env, r.Name+"="+r.Value)
	}
	return allowed
}

// Limits on what a client sends.
const (
	maxVariables = 20
	maxVariable  = 100 // bytes
	maxTerm      = 64  // bytes
	maxColumns   = 240
	maxRows      = 64
)

// sizeOf returns a terminal's size, within the limits. Clients that do not know the size
// send 0 × 0, for which sizeOf returns 80 × 24.
func sizeOf(columns, rows uint32) Size {
	if columns == 0 || rows == 0 {
		return Size{Width: 80, Height: 24}
	}
	return Size{Width: int(min(columns, maxColumns)), Height: int(min(rows, maxRows))}
}

// printable returns the printable ASCII characters of a string, at most limit of them.
func printable(text string, limit int) string {
	var out strings.Builder
	for _, r := range text {
		if r >= ' ' && r <= '~' && out.Len() < limit {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// patientWriter writes to a client, and closes the connection if a write takes longer than
// stallTimeout.
type patientWriter struct {
	to       io.Writer
	client   *client
	terminal bool // newlines need a carriage return

	mu sync.Mutex
}

// Write implements io.Writer.
func (w *patientWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	overdue := time.AfterFunc(stallTimeout, w.client.close)
	defer overdue.Stop()
	text := b
	if w.terminal {
		text = bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
	}
	if _, err := w.to.Write(text); err != nil {
		return 0, err
	}
	return len(b), nil
}
