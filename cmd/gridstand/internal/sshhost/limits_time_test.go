package sshhost

import (
	"bytes"
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	gossh "golang.org/x/crypto/ssh"
)

// ended returns a channel that is closed when the connection ends.
func ended(c *gossh.Client) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = c.Wait()
	}()
	return done
}

// passes lets time pass, in which the connection must not end.
func passes(t *testing.T, d time.Duration, ended <-chan struct{}) {
	t.Helper()
	time.Sleep(d) //nolint:forbidigo // The bubble's clock is fake.
	synctest.Wait()
	select {
	case <-ended:
		require.Fail(t, "ended too early")
	default:
	}
}

// Ensure that a connection without a login or a session is closed.
func TestLimits_Login(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, login := startPiped(t, until), DefaultLimits().Login
		began := time.Now()
		_, err := io.Copy(io.Discard, h.connect())
		require.NoError(t, err)
		assert.Equal(t, login, time.Since(began), "no login")

		c, _ := h.dial()
		end := ended(c)
		passes(t, login-1, end)
		p := open(t, c, "tv")
		passes(t, 2*login, end)
		began = time.Now()
		require.NoError(t, p.Close())
		<-end
		assert.Equal(t, login, time.Since(began), "after the last session")

		began = time.Now()
		c, _ = h.dial()
		<-ended(c)
		assert.Equal(t, login, time.Since(began), "without any session")
	})
}

// Ensure that a session without key presses ends with a message, that key presses extend it, and
// that it ends at its maximum duration.
func TestLimits_Idle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const idle, longest = time.Hour, 3 * time.Hour
		h := startPiped(t, func(ctx context.Context, s *Session) int {
			go func() { _, _ = io.Copy(io.Discard, s.In) }()
			return until(ctx, s)
		}, func(c *Config) { c.Limits.Idle, c.Limits.Duration = idle, longest })
		for keys, want := range map[int]struct {
			took time.Duration
			why  error
		}{0: {idle, errIdle}, 3: {3*(idle-1) + idle, errTooLong}} {
			c, _ := h.dial()
			end := ended(c)
			began := time.Now()
			p := open(t, c, "tv")
			for range keys {
				passes(t, idle-1, end)
				_, err := p.in.Write([]byte("x"))
				require.NoError(t, err)
			}
			out, code := p.rest(t)
			assert.Equal(t, want.why.Error()+".\r\n", out)
			assert.Equal(t, exitFailed, code)
			assert.Equal(t, min(want.took, longest), time.Since(began))
			_ = c.Close()
		}
	})
}

// Ensure that a session ends if its client does not read the output, or hangs although nothing is
// sent to it.
func TestLimits_Stall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stall, over := DefaultLimits().Stall, make(chan struct{})
		h := startPiped(t, func(ctx context.Context, s *Session) int {
			defer func() { over <- struct{}{} }()
			if s.Command.Name == "tv" {
				return until(ctx, s)
			}
			for {
				if _, err := s.Out.Write(bytes.Repeat([]byte("x"), 1<<16)); err != nil {
					return exitFailed
				}
			}
		})
		c, _ := h.dial()
		began := time.Now()
		open(t, c, "watch")
		<-over
		assert.Equal(t, stall, time.Since(began), "a client that does not read")

		c, conn := h.dial()
		open(t, c, "tv")
		passes(t, 3*stall, ended(c))
		began = time.Now()
		conn.hangs.Store(true)
		<-over
		assert.LessOrEqual(t, time.Since(began), stall+stall/2, "a client that hangs")
	})
}

// Ensure that the sessions of an address share the rate of their terminals' keys and sizes.
func TestLimits_Pace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const events, sessions = eventsBurst/2 + 5*eventsPerSecond, 2
		done := make(chan struct{})
		h := startPiped(t, func(ctx context.Context, s *Session) int {
			for range events {
				if err := s.Pace(ctx); err != nil {
					return exitFailed
				}
			}
			done <- struct{}{}
			return until(ctx, s)
		})
		began := time.Now()
		for range sessions {
			c, _ := h.dial()
			open(t, c, "tv")
		}
		for range sessions {
			<-done
		}
		assert.InDelta(t, 10, time.Since(began).Seconds(), 0.1)
	})
}
