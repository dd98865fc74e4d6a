package sshhost

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/gliderlabs/ssh"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	gossh "golang.org/x/crypto/ssh"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
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
			waittest.Until(t, "a session is accepted", func() bool {
				s, err := c.NewSession()
				return err == nil && s.Close() == nil
			})
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
	waittest.Until(t, "a connection is accepted", func() bool {
		c, err := h.tryDial(guest())
		return err == nil && c.Close() == nil
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
	waittest.Until(t, "the first window grows", func() bool {
		require.NoError(t, first.WindowChange(maxRows, maxColumns))
		return next(firstSizes) == "{320 100}"
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
