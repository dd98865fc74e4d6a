package sshhost

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/gliderlabs/ssh"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	gossh "golang.org/x/crypto/ssh"
)

// Ensure that sessions over a limit are refused with a reason, and that the end of a
// session frees its slot.
func TestLimits_Sessions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*Limits)
		want   string
	}{
		{"in total", func(l *Limits) { l.Sessions = 2 }, errFull.Error()},
		{"per address", func(l *Limits) { l.SessionsPerAddress = 2 }, errAddressFull.Error()},
		{"per connection", func(l *Limits) { l.SessionsPerConnection = 2 }, "too many sessions on this connection"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := start(t, until, func(c *Config) { tt.change(&c.Limits) })
			c := h.dial(guest())
			first := open(t, c, "tv")
			open(t, c, "tv")
			_, err := c.NewSession()
			require.ErrorContains(t, err, tt.want)
			require.NoError(t, first.Close())
			require.Eventually(t, func() bool {
				s, err := c.NewSession()
				return err == nil && s.Close() == nil
			}, limit, 10*time.Millisecond)
		})
	}
}

// Ensure that the number of connections is limited even before login.
func TestLimits_Connections(t *testing.T) {
	t.Parallel()
	h := start(t, until, func(c *Config) { c.Limits.SessionsPerAddress = 1 })
	h.dial(guest())
	silent, err := net.Dial("tcp", h.address)
	require.NoError(t, err)
	defer silent.Close()
	_, err = silent.Read(make([]byte, 1))
	require.NoError(t, err)
	_, err = h.tryDial(guest())
	require.Error(t, err)
	require.NoError(t, silent.Close())
	require.Eventually(t, func() bool {
		c, err := h.tryDial(guest())
		return err == nil && c.Close() == nil
	}, limit, 10*time.Millisecond)
}

// Ensure that a connection without a login or a session is closed.
func TestLimits_Login(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	slower(t, func(login time.Duration) error {
		h := start(t, until, func(c *Config) { c.Limits.Login = login })
		silent, err := net.Dial("tcp", h.address)
		require.NoError(t, err)
		defer silent.Close()
		require.NoError(t, silent.SetDeadline(time.Now().Add(limit)))
		_, err = io.Copy(io.Discard, silent)
		require.NoError(t, err, "no login")

		c, err := h.tryDial(guest())
		if err != nil {
			return err
		}
		defer c.Close()
		p, err := tryOpen(c, "tv")
		if err != nil {
			return err
		}
		select {
		case <-time.After(2 * login):
		case <-ended(c):
			return errors.New("closed despite a session")
		}
		require.NoError(t, p.Close())
		waitFor(t, ended(c), "after the last session")
		c, err = h.tryDial(guest())
		if err != nil {
			return err
		}
		defer c.Close()
		waitFor(t, ended(c), "without any session")
		return nil
	})
}

// ended returns a channel that is closed when the connection ends.
func ended(c *gossh.Client) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = c.Wait()
	}()
	return done
}

func waitFor(t *testing.T, done <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(limit):
		require.Fail(t, "the connection did not end", what)
	}
}

// Ensure that a session without key presses ends with a message, and that key presses
// extend it.
func TestLimits_Idle(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	slower(t, func(idle time.Duration) error {
		h := start(t, func(ctx context.Context, s *Session) int {
			go func() { _, _ = io.Copy(io.Discard, s.In) }()
			return until(ctx, s)
		}, func(c *Config) { c.Limits.Idle = idle })
		p := open(t, h.dial(guest()), "tv")
		opened := time.Now()
		for range 3 {
			<-time.After(idle / 2)
			_, _ = p.in.Write([]byte("x"))
		}
		out, code := p.rest(t)
		assert.Equal(t, errIdle.Error()+".\r\n", out)
		assert.Equal(t, exitFailed, code)
		if took := time.Since(opened); took < 2*idle {
			return fmt.Errorf("ended after %v, although keys were pressed", took)
		}
		return nil
	})
}

// Ensure that terminals that are larger than 80 × 24 share a limited number of cells, and that one
// that ends or shrinks makes room.
func TestLimits_Cells(t *testing.T) {
	t.Parallel()
	h := start(t, func(ctx context.Context, s *Session) int {
		_, _ = fmt.Fprintln(s.Out, s.Size)
		for {
			select {
			case size := <-s.Resized:
				_, _ = fmt.Fprintln(s.Out, size)
			case <-ctx.Done():
				return exitFailed
			}
		}
	}, func(c *Config) { c.Limits.SessionsPerConnection = 100 })
	c := h.dial(guest())
	sizes := func(columns, rows int) (*pane, *bufio.Scanner) {
		s, err := c.NewSession()
		require.NoError(t, err)
		out, err := s.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, s.RequestPty("xterm", rows, columns, nil))
		require.NoError(t, s.Start("tv"))
		return &pane{Session: s}, bufio.NewScanner(out)
	}
	next := func(lines *bufio.Scanner) string {
		require.True(t, lines.Scan(), lines.Err())
		return lines.Text()
	}
	first, firstSizes := sizes(maxColumns, maxRows)
	require.Equal(t, "{320 100}", next(firstSizes))
	for range maxCellsPerAddress/(maxColumns*maxRows) - 1 {
		_, lines := sizes(1000, 1000)
		require.Equal(t, "{320 100}", next(lines))
	}
	second, secondSizes := sizes(maxColumns, maxRows)
	assert.Equal(t, "{80 24}", next(secondSizes))
	narrow, narrowSizes := sizes(60, maxRows)
	assert.Equal(t, "{60 100}", next(narrowSizes), "there is room for this one")
	third, thirdSizes := sizes(95, maxRows)
	assert.Equal(t, "{95 100}", next(thirdSizes), "and for this one")
	require.NoError(t, third.WindowChange(maxRows, maxColumns))
	assert.Equal(t, "{95 100}", next(thirdSizes), "a window that cannot grow stays as it is")
	require.NoError(t, third.WindowChange(50, maxColumns))
	assert.Equal(t, "{95 50}", next(thirdSizes))
	require.NoError(t, narrow.WindowChange(maxRows, maxColumns))
	assert.Equal(t, "{80 24}", next(narrowSizes), "a part of 60 columns would be too narrow for this one")
	require.NoError(t, first.WindowChange(24, 80))
	assert.Equal(t, "{80 24}", next(firstSizes))
	require.NoError(t, second.WindowChange(maxRows, maxColumns))
	assert.Equal(t, "{320 100}", next(secondSizes))
	require.NoError(t, first.WindowChange(maxRows, maxColumns))
	assert.Equal(t, "{80 24}", next(firstSizes))
	require.NoError(t, second.Close())
	require.Eventually(t, func() bool {
		require.NoError(t, first.WindowChange(maxRows, maxColumns))
		return next(firstSizes) == "{320 100}"
	}, limit, limit/1000)
}

// Ensure that a share changes in one step: another one cannot take what a share has before and
// after a change, and a share that cannot grow keeps what it has.
func TestShare(t *testing.T) {
	t.Parallel()
	c := newCounter(12, 10)
	near, far := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 2)}
	first, second, third := c.share(near), c.share(near), c.share(far)
	require.NoError(t, first.set(6))
	require.ErrorIs(t, second.set(5), errAddressFull)
	require.NoError(t, first.set(7))
	require.ErrorIs(t, first.set(11), errAddressFull)
	require.ErrorIs(t, second.set(4), errAddressFull, "the first share has kept 7")
	require.NoError(t, second.set(3))
	require.ErrorIs(t, third.set(3), errFull)
	require.NoError(t, first.set(5))
	require.NoError(t, third.set(4))
	for _, s := range []*share{first, second, third} {
		require.NoError(t, s.set(0))
		require.NoError(t, s.set(0))
	}
	assert.Zero(t, c.all)
	assert.Empty(t, c.from)
}

// Ensure that a session ends at its maximum duration.
func TestLimits_Duration(t *testing.T) {
	t.Parallel()
	h := start(t, until, func(c *Config) { c.Limits.Duration = 300 * time.Millisecond })
	out, _ := open(t, h.dial(guest()), "tv").rest(t)
	assert.Equal(t, errTooLong.Error()+".\r\n", out)
}

// Ensure that a session ends if its client does not read the output.
func TestLimits_NotReading(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	slower(t, func(stall time.Duration) error {
		ended := make(chan struct{})
		h := start(t, func(ctx context.Context, s *Session) int {
			defer close(ended)
			for {
				if _, err := s.Out.Write(bytes.Repeat([]byte("x"), 1<<16)); err != nil {
					return exitFailed
				}
			}
		}, func(c *Config) { c.Limits.Stall = stall })
		if _, err := tryOpen(h.dial(guest()), "tv"); err != nil {
			return err
		}
		waitFor(t, ended, "a client that does not read")
		return nil
	})
}

// unread is a requested channel whose client does not read the answer before released is
// closed.
type unread struct {
	gossh.NewChannel
	answering chan<- struct{} // receives once for each answer
	released  <-chan struct{}
}

// Reject implements gossh.NewChannel.
func (u unread) Reject(gossh.RejectionReason, string) error {
	u.answering <- struct{}{}
	<-u.released
	return nil
}

// requestContext is the context of a client's requests for channels.
type requestContext struct {
	ssh.Context
	client *client
}

// Value implements context.Context.
func (c requestContext) Value(any) any { return c.client }

// Ensure that a client that requests many channels and does not read the answers loses the
// connection, because each request takes up memory until it is answered.
func TestLimits_Undecided(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"default", "session"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			conn, peer := net.Pipe()
			defer peer.Close()
			h := &host{stopping: true} // refuses sessions
			handlers := map[string]ssh.ChannelHandler{"default": refuse, "session": h.session}
			ctx := requestContext{client: newClient(conn, DefaultLimits())}
			defer ctx.client.unused.Stop()
			answering, released := make(chan struct{}), make(chan struct{})
			request := func() { handlers[kind](nil, nil, unread{nil, answering, released}, ctx) }
			var waiting sync.WaitGroup
			for range maxUndecided {
				waiting.Go(request)
				<-answering
			}
			request() // returns without an answer
			_, err := peer.Read(make([]byte, 1))
			require.ErrorIs(t, err, io.EOF)
			close(released)
			waiting.Wait()
			assert.Zero(t, ctx.client.undecided)
		})
	}
}

// Ensure that a client may open and close more channels than may wait for an answer.
func TestLimits_Decided(t *testing.T) {
	t.Parallel()
	const sessions = maxUndecided + 10
	h := start(t, until, func(c *Config) { // A busy host notices late that a session has ended.
		c.Limits.SessionsPerConnection, c.Limits.SessionsPerAddress = sessions, sessions
	})
	c := h.dial(guest())
	for range sessions {
		_, _, err := c.OpenChannel("direct-tcpip", nil)
		require.ErrorContains(t, err, "no forwarding")
		s, err := c.NewSession()
		require.NoError(t, err)
		require.NoError(t, s.Close())
	}
}

// frozen is a connection whose reads block once it is frozen.
type frozen struct {
	net.Conn
	mu     sync.Mutex
	thawed chan struct{}
}

func (f *frozen) freeze() (thaw func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	thawed := make(chan struct{})
	f.thawed = thawed
	return func() { close(thawed) }
}

func (f *frozen) Read(b []byte) (int, error) {
	n, err := f.Conn.Read(b)
	f.mu.Lock()
	thawed := f.thawed
	f.mu.Unlock()
	if thawed != nil {
		<-thawed
	}
	return n, err
}

// Ensure that a session ends if its client hangs, even if nothing is sent to the client.
func TestLimits_Hanging(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	slower(t, func(stall time.Duration) error {
		over := make(chan struct{})
		h := start(t, func(ctx context.Context, s *Session) int {
			defer close(over)
			return until(ctx, s)
		}, func(c *Config) { c.Limits.Stall = stall })
		raw, err := net.Dial("tcp", h.address)
		require.NoError(t, err)
		conn := &frozen{Conn: raw}
		own, channels, requests, err := gossh.NewClientConn(conn, h.address, &gossh.ClientConfig{
			User: "ada", Auth: []gossh.AuthMethod{guest()}, HostKeyCallback: gossh.FixedHostKey(h.key.PublicKey()),
		})
		if err != nil {
			return err
		}
		c := gossh.NewClient(own, channels, requests)
		defer c.Close()
		if _, err := tryOpen(c, "tv"); err != nil {
			return err
		}
		select {
		case <-time.After(3 * stall):
		case <-over:
			return errors.New("ended, although the client answers")
		}
		thaw := conn.freeze()
		defer thaw()
		waitFor(t, over, "a client that hangs")
		return nil
	})
}
