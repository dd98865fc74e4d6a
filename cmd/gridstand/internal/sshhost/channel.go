package sshhost

import (
	"context"
	"strings"
	"sync"

	"github.com/gliderlabs/ssh"
	gossh "golang.org/x/crypto/ssh"
)

// channel is a session's channel. To the SSH library it looks like a NewChannel, but it
// has already been accepted, and passes on only requests that are allowed and well
// formed.
type channel struct {
	*input
	client *client
	// setCells changes how many cells the session counts as using; see share.
	setCells func(n int) error
	// closed is done once the client has closed the channel or the connection has ended.
	closed context.Context
	close  context.CancelFunc

	requests chan *gossh.Request // to the library
	resized  chan Size           // the latest size
	size     Size                // at the start
	fitted   Size                // what fit returned last
	terminal bool
	// handler tracks the session's handler, from the request that starts it until it
	// returns.
	handler sync.WaitGroup
}

func newChannel(ctx context.Context, accepted gossh.Channel, c *client, setCells func(int) error) *channel {
	ch := &channel{
		input: newInput(accepted), client: c, setCells: setCells,
		requests: make(chan *gossh.Request), resized: make(chan Size, 1),
	}
	ch.closed, ch.close = context.WithCancel(ctx)
	return ch
}

// Accept, ChannelType, ExtraData and Reject implement gossh.NewChannel.
func (ch *channel) Accept() (gossh.Channel, <-chan *gossh.Request, error) {
	return ch.input, ch.requests, nil
}

func (ch *channel) ChannelType() string                        { return "session" }
func (ch *channel) ExtraData() []byte                          { return nil }
func (ch *channel) Reject(gossh.RejectionReason, string) error { return nil }

// Payloads of requests, RFC 4254, section 6.
type (
	ptyRequest struct {
		Term                                   string
		Columns, Rows, PixelWidth, PixelHeight uint32
		Modes                                  string
	}
	resizeRequest struct{ Columns, Rows, PixelWidth, PixelHeight uint32 }
	envRequest    struct{ Name, Value string }
)

// filter passes requests on to the library until the channel is closed. It refuses
// requests that no session needs. It also checks what the library does not: each variable
// would take up memory, and a malformed terminal request would cause a panic.
func (ch *channel) filter(requests <-chan *gossh.Request) {
	defer close(ch.requests)
	defer ch.close()
	started, variables := false, 0
	for request := range requests {
		switch pass := false; request.Type {
		case "pty-req":
			pass = !started && !ch.terminal && ch.allocate(request)
			ch.answer(request, pass)
		case "env":
			pass = !started && variables < maxVariables && allowedVariable(request.Payload)
			if pass {
				variables++
			}
			ch.answer(request, pass)
		case "shell", "exec":
			pass = !started
			if pass {
				started = true
				ch.handler.Add(1)
			}
			if passed := ch.answer(request, pass); pass && !passed {
				ch.handler.Done() // the library will not call the handler
			}
		case "window-change":
			var r resizeRequest
			if pass = ch.terminal && gossh.Unmarshal(request.Payload, &r) == nil; pass {
				ch.resize(ch.fit(sizeOf(r.Columns, r.Rows)))
			}
			_ = request.Reply(pass, nil)
		default: // subsystems, agent forwarding, X11, signals, …
			_ = request.Reply(false, nil)
		}
	}
}

// answer passes a request on to the library or, if pass is false, refuses it. It returns
// false if it refused the request or the channel is closed.
func (ch *channel) answer(request *gossh.Request, pass bool) bool {
	if !pass {
		_ = request.Reply(false, nil)
		return false
	}
	select {
	case ch.requests <- request:
		return true
	case <-ch.closed.Done():
		return false
	}
}

// allocate checks a request for a terminal and reports whether it is allowed.
func (ch *channel) allocate(request *gossh.Request) bool {
	var r ptyRequest
	if gossh.Unmarshal(request.Payload, &r) != nil || r.Term != printable(r.Term, maxTerm) {
		return false
	}
	ch.terminal, ch.size = true, ch.fit(sizeOf(r.Columns, r.Rows))
	return true
}

// fit returns the part of a terminal that the session may use: all of it or, if other large
// terminals already use too many cells, the part that it used before, or at most 80 × 24.
func (ch *channel) fit(size Size) Size {
	small := Size{Width: min(size.Width, 80), Height: min(size.Height, 24)}
	kept := Size{Width: min(size.Width, ch.fitted.Width), Height: min(size.Height, ch.fitted.Height)}
	switch {
	case size == small:
		_ = ch.setCells(0)
	case ch.setCells(size.Width*size.Height) == nil:
	case kept.Width >= small.Width && kept.Height >= small.Height && kept != small:
		size = kept
		_ = ch.setCells(kept.Width * kept.Height)
	default:
		size = small
		_ = ch.setCells(0)
	}
	ch.fitted = size
	return size
}

// resize stores a size until the session takes it, replacing any earlier size.
func (ch *channel) resize(to Size) {
	select {
	case <-ch.resized:
	default:
	}
	ch.resized <- to // Only filter sends, so this does not block.
}

// Limits on what a client sends.
const (
	maxVariables = 20
	maxVariable  = 100 // bytes
	maxTerm      = 64  // bytes
	maxColumns   = 320
	maxRows      = 100
)

// sizeOf returns a terminal's size, within the limits. Clients that do not know the size
// send 0 × 0, for which sizeOf returns 80 × 24.
func sizeOf(columns, rows uint32) Size {
	if columns == 0 || rows == 0 {
		return Size{Width: 80, Height: 24}
	}
	return Size{Width: int(min(columns, maxColumns)), Height: int(min(rows, maxRows))}
}

// allowedVariable reports whether a client may set an environment variable: only variables
// for its language and colors.
func allowedVariable(payload []byte) bool {
	var r envRequest
	if gossh.Unmarshal(payload, &r) != nil || r.Value != printable(r.Value, maxVariable) || r.Name != printable(r.Name, maxVariable) {
		return false
	}
	switch r.Name {
	case "LANG", "COLORTERM", "NO_COLOR":
		return true
	default:
		return strings.HasPrefix(r.Name, "LC_")
	}
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

// describe returns the Session for a channel.
func (ch *channel) describe(s ssh.Session) *Session {
	out := &patientWriter{to: s, client: ch.client}
	described := &Session{
		User: printable(s.User(), maxVariable), Address: addressOf(s.RemoteAddr()),
		In: s, Out: out, Err: out, Env: s.Environ(),
	}
	if conn, ok := s.Context().Value(ssh.ContextKeyConn).(*gossh.ServerConn); ok && conn.Permissions != nil {
		described.Key, _ = conn.Permissions.ExtraData[provedKey{}].(gossh.PublicKey) // nil for a guest
	}
	terminal, _, ok := s.Pty()
	if !ok {
		described.Err = &patientWriter{to: s.Stderr(), client: ch.client}
		return described
	}
	described.Terminal = terminal.Term != "dumb" // whose cursor cannot be moved
	described.Size, described.Resized = ch.size, ch.resized
	described.Env = append(described.Env, "TERM="+terminal.Term)
	return described
}
