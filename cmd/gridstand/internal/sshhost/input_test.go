package sshhost

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
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

// countingKey is a host key that counts its signatures.
type countingKey struct {
	gossh.AlgorithmSigner
	signed atomic.Int64
}

func (k *countingKey) Sign(rand io.Reader, data []byte) (*gossh.Signature, error) {
	k.signed.Add(1)
	return k.AlgorithmSigner.Sign(rand, data)
}

// Ensure that each key exchange counts like a new connection, so that a client cannot make the
// host exchange keys at any rate.
func TestServe_KeyExchanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		key := &countingKey{}
		h := startPiped(t, until, func(c *Config) {
			key.AlgorithmSigner = c.HostKey.(gossh.AlgorithmSigner)
			c.HostKey = key
		})
		began := time.Now()
		client, _ := h.dial(func(c *gossh.ClientConfig) { c.RekeyThreshold = 1 }) // the library then exchanges keys every 256 bytes
		const exchanges = (bytesBurst + bytesPerSecond) / connectionBytes         // those of a second
		for key.signed.Load() < exchanges+2 {
			_, _, err := client.SendRequest("unknown", true, make([]byte, 256))
			require.NoError(t, err)
		}
		// The last exchanges delay what the host reads next.
		assert.GreaterOrEqual(t, time.Since(began), time.Second)
	})
}

// Ensure that a client can send more than the SSH library holds for a channel, although the session
// does not read it, and that the session can then read the beginning.
func TestSession_Unread(t *testing.T) {
	t.Parallel()
	read := make(chan struct{})
	got := make(chan []byte, 1)
	h := start(t, func(_ context.Context, s *Session) int {
		<-read
		all, _ := io.ReadAll(s.In)
		got <- all
		return 0
	})
	session, requests, err := h.dial(guest()).OpenChannel("session", nil)
	require.NoError(t, err)
	go gossh.DiscardRequests(requests)
	const window = 2 << 20 // of the library
	sent := bytes.Repeat([]byte("keys"), window/4+100)
	_, err = session.Stderr().Write(sent)
	require.NoError(t, err)
	ok, err := session.SendRequest("exec", true, gossh.Marshal(struct{ Command string }{"games"}))
	require.NoError(t, err)
	require.True(t, ok)
	_, err = session.Write(sent)
	require.NoError(t, err)
	require.NoError(t, session.CloseWrite())
	close(read)
	all := <-got
	assert.GreaterOrEqual(t, len(all), maxUnread)
	assert.Equal(t, sent[:maxUnread], all[:maxUnread])
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
