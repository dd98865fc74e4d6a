package sshhost

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"
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

// queue is a connection whose writes do not wait for the reader.
type queue struct {
	net.Conn
	out    chan []byte
	closed chan struct{}
	close  sync.Once
}

func newQueue(conn net.Conn) *queue {
	q := &queue{Conn: conn, out: make(chan []byte, 1000), closed: make(chan struct{})}
	go func() {
		for {
			select {
			case b := <-q.out:
				_, _ = conn.Write(b)
			case <-q.closed:
				return
			}
		}
	}()
	return q
}

func (q *queue) Write(b []byte) (int, error) {
	select {
	case q.out <- slices.Clone(b):
		return len(b), nil
	case <-q.closed:
		return 0, net.ErrClosed
	}
}

func (q *queue) Close() error {
	q.close.Do(func() { close(q.closed) })
	return q.Conn.Close()
}

// pipeListener is a listener whose connections are pipes.
type pipeListener struct {
	net.Listener
	conns  chan net.Conn
	closed chan struct{}
	close  sync.Once
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.close.Do(func() { close(l.closed) })
	return nil
}

// Ensure that each key exchange counts like a new connection, so that a client cannot make the
// host exchange keys at any rate.
func TestServe_KeyExchanges(t *testing.T) {
	t.Parallel()
	own, err := HostKey(filepath.Join(t.TempDir(), "key"))
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		key := &countingKey{AlgorithmSigner: own.(gossh.AlgorithmSigner)}
		listener := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			done <- Serve(ctx, listener, Config{
				HostKey: key, Serve: until, Limits: DefaultLimits(), StopTimeout: time.Second, Logger: slog.New(slog.DiscardHandler),
			})
		}()
		near, far := net.Pipe()
		listener.conns <- near
		began := time.Now()
		config := &gossh.ClientConfig{User: "ada", Auth: []gossh.AuthMethod{guest()}, HostKeyCallback: gossh.FixedHostKey(own.PublicKey())}
		config.RekeyThreshold = 1 // the library then exchanges keys every 256 bytes
		c, channels, requests, err := gossh.NewClientConn(newQueue(far), "", config)
		require.NoError(t, err)
		client := gossh.NewClient(c, channels, requests)
		const exchanges = (bytesBurst + 4*bytesPerSecond) / connectionBytes // those of four seconds
		for key.signed.Load() < exchanges+2 {
			_, _, err := client.SendRequest("unknown", true, make([]byte, 256))
			require.NoError(t, err)
		}
		// The last exchanges delay what the host reads next.
		assert.GreaterOrEqual(t, time.Since(began), 4*time.Second)
		_ = client.Close()
		cancel()
		require.NoError(t, <-done)
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
