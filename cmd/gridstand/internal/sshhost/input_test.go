package sshhost

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	gossh "golang.org/x/crypto/ssh"
)

// remoteAddr returns a client's address.
func remoteAddr(ip string) net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(ip), 50_000))
}

// Ensure that an address is read at a limited rate, that each connection counts, and that
// other addresses do not wait.
func TestPacedConn_Rate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		budgets := newBudgets()
		read := func(from string, n int) time.Duration {
			near, far := net.Pipe()
			defer far.Close()
			c := newPacedConn(near, budgets.get(remoteAddr(from)).input)
			defer c.Close()
			go func() { _, _ = far.Write(make([]byte, n)) }()
			start := time.Now()
			_, err := io.ReadFull(c, make([]byte, n))
			require.NoError(t, err)
			return time.Since(start)
		}
		assert.Zero(t, read("192.0.2.1", bytesBurst-connectionBytes))
		assert.InDelta(t, 10, read("192.0.2.1", 10*bytesPerSecond-connectionBytes).Seconds(), 0.1)
		assert.Zero(t, read("192.0.2.2", 1000))
		start := time.Now()
		for range 100 {
			read("192.0.2.1", 1)
		}
		assert.InDelta(t, 100*float64(connectionBytes)/bytesPerSecond, time.Since(start).Seconds(), 0.1)
	})
}

// Ensure that many new connections do not make an address wait for longer than about a second.
func TestPacedConn_Debt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		input := newBudgets().get(remoteAddr("192.0.2.1")).input
		for range 10_000 {
			near, far := net.Pipe()
			require.NoError(t, newPacedConn(near, input).Close())
			require.NoError(t, far.Close())
		}
		assert.LessOrEqual(t, input.ReserveN(time.Now(), 1).Delay(), 1100*time.Millisecond)
	})
}

// Ensure that the host can close a connection that waits.
func TestPacedConn_Close(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer far.Close()
		input := newBudgets().get(remoteAddr("192.0.2.1")).input
		input.ReserveN(time.Now(), bytesBurst)
		c := newPacedConn(near, input)
		done := make(chan error)
		go func() {
			_, err := c.Read(make([]byte, 1))
			done <- err
		}()
		_, err := far.Write([]byte{1})
		require.NoError(t, err)
		synctest.Wait()
		require.NoError(t, c.Close())
		require.ErrorIs(t, <-done, net.ErrClosed)
	})
}

// Ensure that budgets of addresses that use nothing are removed, and others are kept.
func TestBudgets_Sweep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		budgets := newBudgets()
		busy := budgets.get(remoteAddr("192.0.2.1"))
		busy.input.ReserveN(time.Now(), bytesBurst)
		for n := range 100_000 {
			budgets.get(remoteAddr(netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}).String()))
		}
		assert.LessOrEqual(t, len(budgets.of), minSweep)
		assert.Same(t, busy, budgets.get(remoteAddr("192.0.2.1")))
	})
}

// Ensure that a client that runs command after command does not fill the log.
func TestHost_LogRate(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	h := start(t, until, func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	c := h.dial(guest())
	run := func() {
		// A session counts until shortly after its client has the exit status, so there may be too many.
		var s *gossh.Session
		require.Eventually(t, func() bool {
			var err error
			s, err = c.NewSession()
			return err == nil
		}, limit, time.Millisecond)
		require.Error(t, s.Run("nonsense"))
	}
	began := time.Now()
	for range 2 * linesBurst {
		run()
	}
	h.stop()
	logged := strings.Count(log.String(), "session refused")
	assert.GreaterOrEqual(t, logged, linesBurst)
	assert.LessOrEqual(t, logged, linesBurst+linesPerSecond*(int(time.Since(began).Seconds())+1))
}

// Ensure that a session that is logged has the number of those that were not.
func TestBudget_Line(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBudgets().get(remoteAddr("192.0.2.1"))
		for n := range linesBurst + 7 {
			hidden, ok := b.line()
			assert.Equal(t, n < linesBurst, ok)
			assert.Zero(t, hidden)
		}
		time.Sleep(time.Second / linesPerSecond) //nolint:forbidigo // The bubble's clock is fake.
		hidden, ok := b.line()
		assert.True(t, ok)
		assert.Equal(t, 7, hidden)
	})
}
