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

// Ensure that a connection without a login or a session is closed.
func TestLimits_Login(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := start(t, until)
		began := time.Now()
		_, err := io.Copy(io.Discard, h.connect(address))
		require.NoError(t, err)
		assert.Equal(t, silentTimeout, time.Since(began), "no exchange of keys")

		c := h.dial()
		<-time.After(loginTimeout - 1)
		p := open(t, c, "watch")
		<-time.After(2 * loginTimeout)
		began = time.Now()
		require.NoError(t, p.Close())
		_ = c.Wait()
		assert.Equal(t, loginTimeout, time.Since(began), "after the last session")

		began = time.Now()
		rekeying := gossh.ClientConfig{Auth: []gossh.AuthMethod{guest()}}
		rekeying.RekeyThreshold = 1
		c, err = h.tryDial(address, rekeying)
		for err == nil {
			<-time.After(time.Second)
			_, _, err = c.SendRequest("unknown", true, make([]byte, 256))
		}
		assert.InDelta(t, loginTimeout.Seconds(), time.Since(began).Seconds(), 1, "without any session, although it exchanges keys")
	})
}

// Ensure that a session without key presses ends with a message, and that key presses extend it.
func TestLimits_Idle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const idle = time.Hour
		h := start(t, until, func(c *Config) { c.Limits.Idle = idle })
		for _, keys := range []int{0, 3} {
			c := h.dial()
			began := time.Now()
			p := open(t, c, "watch")
			for range keys {
				<-time.After(idle - 1)
				_, err := p.in.Write([]byte("x"))
				require.NoError(t, err)
			}
			out, code := p.rest(t)
			assert.Equal(t, errIdle.Error()+".\r\n", out)
			assert.Equal(t, exitFailed, code)
			assert.Equal(t, time.Duration(keys)*(idle-1)+idle, time.Since(began))
			_ = c.Close()
		}
	})
}

// Ensure that the host keeps only the first parts of the input that a session does not read, so that its client
// can always send more.
func TestLimits_Unread(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sent, kept := make(chan struct{}), make(chan int, 1)
		h := start(t, func(_ context.Context, s *Session) int {
			<-sent
			total := 0
			for len(s.Keys) > 0 {
				total += len(<-s.Keys)
			}
			kept <- total
			return 0
		})
		p := open(t, h.dial(), "watch")
		_, err := p.in.Write(make([]byte, 4<<20)) // The SSH library would hold half of it.
		require.NoError(t, err)
		close(sent)
		require.NoError(t, p.Wait())
		total := <-kept
		assert.Positive(t, total)
		assert.LessOrEqual(t, total, maxParts*maxPart)
	})
}

// Ensure that a session ends if its client does not read the output.
func TestLimits_Stall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		over := make(chan struct{})
		h := start(t, func(_ context.Context, s *Session) int {
			defer func() { over <- struct{}{} }()
			for {
				if _, err := s.Out.Write(bytes.Repeat([]byte("x"), 1<<16)); err != nil {
					return exitFailed
				}
			}
		})
		c := h.dial()
		began := time.Now()
		open(t, c, "watch")
		<-over
		assert.Equal(t, stallTimeout, time.Since(began))
	})
}

// Ensure that a client cannot keep a session by opening a channel without starting the session, or
// by not closing the channel after it.
func TestLimits_Unused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := start(t, whoAmI)
		for _, command := range []string{"", "help"} {
			c := h.dial()
			channel, requests, err := c.OpenChannel("session", nil)
			require.NoError(t, err)
			go gossh.DiscardRequests(requests)
			began := time.Now()
			if command != "" {
				_, err := channel.SendRequest("exec", true, gossh.Marshal(execRequest{command}))
				require.NoError(t, err)
			}
			_ = c.Wait()
			assert.Equal(t, loginTimeout, time.Since(began), command)
		}
	})
}
