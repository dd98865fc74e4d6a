//go:build slow

package sshhost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	gossh "golang.org/x/crypto/ssh"
)

// Ensure that a connection without a login or a session is closed.
func TestLimits_Login(t *testing.T) {
	t.Parallel()
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

// Ensure that a session without key presses ends with a message, and that key presses
// extend it.
func TestLimits_Idle(t *testing.T) {
	t.Parallel()
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

// Ensure that a session ends if its client does not read the output.
func TestLimits_NotReading(t *testing.T) {
	t.Parallel()
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

// slower calls the function try with increasing limits until try returns nil. On a busy
// machine, a short limit can also end sessions that should stay within it.
func slower(t *testing.T, try func(limit time.Duration) error) {
	t.Helper()
	var err error
	for _, limit := range []time.Duration{500 * time.Millisecond, 2 * time.Second, 8 * time.Second} {
		if err = try(limit); err == nil {
			return
		}
		t.Logf("with a limit of %v: %v", limit, err)
	}
	require.NoError(t, err)
}
