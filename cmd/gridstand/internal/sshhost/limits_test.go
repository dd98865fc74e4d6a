package sshhost

import (
	"context"
	"crypto/rand"
	"net"
	"net/netip"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	gossh "golang.org/x/crypto/ssh"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// Ensure that sessions over the limit of an address or of the host, whichever connections have them, are
// refused with a reason, and that the end of a session frees its slot.
func TestLimits_Sessions(t *testing.T) {
	t.Parallel()
	h := start(t, until, func(c *Config) { c.Limits.SessionsPerAddress, c.Limits.Sessions = 2, 3 })
	c := h.dial()
	first := open(t, c, "watch")
	open(t, h.dial(), "watch")
	_, err := c.NewSession()
	require.ErrorContains(t, err, errAddressFull.Error())
	open(t, h.dialFrom("198.51.100.1"), "watch")
	_, err = h.dialFrom("198.51.100.2").NewSession()
	require.ErrorContains(t, err, errFull.Error())
	require.NoError(t, first.Close())
	waittest.Until(t, "a session is accepted", func() bool {
		s, err := c.NewSession()
		return err == nil && s.Close() == nil
	})
}

// Ensure that clients that open connections and send nothing do not shut the host to others,
// also from other networks of their own.
func TestPlaces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := start(t, until)
		playing := h.dialFrom("192.0.2.1")
		p := open(t, playing, "watch")
		var silent []net.Conn
		for n := range 5 * 200 {
			silent = append(silent, h.connect([]string{"192.0.2.1", "192.0.2.2", "192.0.2.3", "2001:db8::1", "2001:db8:0:ff::2"}[n%5]))
			t.Cleanup(func() { _ = silent[n].Close() })
		}
		synctest.Wait()
		var refused dto.Metric
		require.NoError(t, h.metrics.refusals.WithLabelValues("places").Write(&refused))
		assert.InDelta(t, 5*200-maxPlaces, refused.GetCounter().GetValue(), 0)
		other := h.dialFrom("198.51.100.1")
		open(t, other, "watch")
		same := h.dialFrom("192.0.2.1")
		open(t, same, "watch")
		require.NoError(t, p.WindowChange(30, 100), "a connection with a session keeps it")
	})
}

// newHost returns a host without connections.
func newHost(t *testing.T) *host {
	t.Helper()
	shares, err := simplelru.NewLRU[netip.Prefix, share](maxShares, nil)
	require.NoError(t, err)
	return &host{config: Config{Metrics: NewMetrics()}, clients: clients{limits: DefaultLimits()}, shares: shares, connections: t.Context()}
}

// waits adds a connection without a session.
func (h *host) waits(t *testing.T, address string) *client {
	t.Helper()
	near, far := net.Pipe()
	c := h.newClient(addressed{near, remoteAddr(address)})
	t.Cleanup(func() {
		c.waiting.Stop()
		c.close()
		_ = far.Close()
	})
	h.clients.add(c)
	return c
}

// Ensure that the network with most connections without a session loses one if there are no more places.
func TestPlaces_Most(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	fewer := h.waits(t, "192.0.2.1")
	for range maxPlaces/3 + 1 {
		h.waits(t, "192.0.2.1")
	}
	var most []*client
	for n := range maxPlaces - maxPlaces/3 - 1 {
		most = append(most, h.waits(t, []string{"2001:db8::1", "2001:db8:0:ff::2"}[n%2])) // both in one /56 network
	}
	require.Error(t, most[0].closed.Err())
	require.NoError(t, most[1].closed.Err())
	require.NoError(t, fewer.closed.Err())
}

// Ensure that the connection that has waited longest goes if there are no more places and each has another
// address, and that a connection which has had a session waits again from its end.
func TestPlaces_Oldest(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	var all []*client
	for n := range maxPlaces + 1 {
		c := h.waits(t, netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}).String())
		if all = append(all, c); n == 1 {
			require.NoError(t, h.clients.begin(all[0]))
			h.clients.finish(all[0])
		}
	}
	for n, c := range all {
		assert.Equal(t, n == 1, c.closed.Err() != nil, n)
	}
}

// Ensure that an address is read at a limited rate, to which the exchange of keys, sessions and
// events count, and that other addresses do not wait.
func TestRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		events := make(chan error)
		h := start(t, func(ctx context.Context, s *Session) int {
			for range 2 * bytesBurst / eventBytes {
				if err := s.Pace(ctx); err != nil {
					return exitFailed
				}
			}
			events <- nil
			return until(ctx, s)
		})
		began := time.Now()
		first := h.dialFrom("192.0.2.1")
		open(t, first, "watch")
		require.NoError(t, <-events)
		assert.InDelta(t, float64(bytesBurst)/bytesPerSecond, time.Since(began).Seconds(), 0.2, "events")

		began = time.Now()
		second := h.dialFrom("192.0.2.1") // The rate is used up.
		_, _, err := second.SendRequest("unknown", true, nil)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, time.Since(began), time.Second*exchangeBytes/bytesPerSecond, "an exchange of keys")

		began = time.Now()
		h.dialFrom("192.0.2.2")
		assert.Zero(t, time.Since(began), "another address")
	})
}

// Ensure that as many sessions of an address as there are places draw at the same time, that a place
// stays taken while the frame is rendered, and that other addresses do not wait.
func TestTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		first, second, other := h.waits(t, "192.0.2.1"), h.waits(t, "192.0.2.1"), h.waits(t, "192.0.2.2")
		began := time.Now()
		var ends []func()
		for range cap(first.turns) {
			ends = append(ends, first.turn(t.Context()))
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		second.turn(gone)()
		other.turn(t.Context())()
		assert.Zero(t, time.Since(began))

		<-time.After(time.Second)
		ends[0]()
		second.turn(t.Context())()
		assert.Equal(t, (1+renderFactor)*time.Second, time.Since(began))
		for _, end := range ends[1:] {
			end()
		}
	})
}

// Ensure that the host does not wait to read what a client has sent if it notices that the client has left.
func TestRate_Left(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		near, far := net.Pipe()
		c := h.newClient(addressed{near, remoteAddr("192.0.2.1")})
		defer c.waiting.Stop()
		began, read := time.Now(), make(chan error)
		c.charge(bytesBurst)
		go func() {
			_, err := c.Read(make([]byte, 1))
			read <- err
		}()
		_, err := far.Write([]byte("x"))
		require.NoError(t, err)
		synctest.Wait()
		require.NoError(t, far.Close())
		_, err = c.Write([]byte("frame"))
		require.Error(t, err)
		require.ErrorIs(t, <-read, net.ErrClosed)
		assert.Zero(t, time.Since(began))
	})
}

// buffered is a connection that has a buffer in the system.
type buffered struct {
	net.Conn
	size *int
}

func (b buffered) SetWriteBuffer(size int) error {
	*b.size = size
	return nil
}

// Ensure that the system holds little output for a client that does not read it, or stallTimeout would
// begin minutes late.
func TestLimits_Buffer(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	near, _ := net.Pipe()
	size := 0
	c := h.newClient(buffered{near, &size})
	c.waiting.Stop()
	c.close()
	assert.Equal(t, writeBuffer, size)
}

// Ensure that each exchange of keys counts to the rate of the client's address, with every kind of
// host key.
func TestRate_Exchange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		c := h.waits(t, "192.0.2.1")
		key, err := HostKey(filepath.Join(t.TempDir(), "key"))
		require.NoError(t, err)
		signer := &exchangeSigner{key, c}
		_, err = signer.Sign(rand.Reader, nil)
		require.NoError(t, err)
		_, err = signer.SignWithAlgorithm(rand.Reader, nil, gossh.KeyAlgoED25519)
		require.NoError(t, err)
		assert.InDelta(t, bytesBurst-2*exchangeBytes, c.rate.Tokens(), 0)
	})
}
