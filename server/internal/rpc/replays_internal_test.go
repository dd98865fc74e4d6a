package rpc

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/peer"

	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/limits"
)

// Ensure that a replay of a log counts as one read for each page of its events, or as two if the log
// may be read twice, and that logs of any length can be replayed.
func TestAdmitReplay_Reads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const perSecond, burst = 100, 1000
		s := New(Config{
			Limits: limits.Limits{ReadsPerAddressPerSecond: perSecond, ReplaysAtOnce: 4},
		})
		for i, reads := range []int{1, 2} {
			replay := func(events int32) error {
				done, err := []match.Admit{s.admitLoad, s.admitSearch}[i](t.Context(), events)
				if err == nil {
					done()
				}
				return err
			}
			for range burst / 50 {
				require.NoError(t, replay(int32(50/reads*page.DefaultSize)))
			}
			assert.Equal(t, "reads_per_address_per_second", refusedBy(replay(page.DefaultSize)))
			require.NoError(t, replay(page.DefaultSize/2-1), "a short game")
			time.Sleep(10 * time.Second) //nolint:forbidigo // The bubble's clock is fake.
			require.NoError(t, s.checkReadRate("", 1))
			require.NoError(t, replay(1_000_000))
			require.NoError(t, replay(1_000_000))
			time.Sleep(10 * time.Second) //nolint:forbidigo // The bubble's clock is fake.
		}
	})
}

// Ensure that an address gets one replay of the longest games, or several shorter ones, at once;
// that only searches wait, and do not delay those of other addresses; and that short games never
// wait.
func TestAdmitReplay_AtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{Limits: limits.Limits{ReplaysAtOnce: 2}})
		from := func(last byte) context.Context {
			return peer.NewContext(t.Context(), &peer.Peer{Addr: &net.TCPAddr{IP: net.IPv4(192, 0, 2, last), Port: 1}})
		}
		load := func(last byte, events int32) func() {
			done, err := s.admitLoad(from(last), events)
			require.NoError(t, err)
			return done
		}
		refused := func(last byte, events int32) {
			began := time.Now()
			_, err := s.admitLoad(from(last), events)
			assert.Equal(t, "replays_at_once", refusedBy(err))
			assert.Zero(t, time.Since(began), "a load does not wait")
		}
		one, other := load(1, addressReplay/2), load(1, addressReplay/2)
		refused(1, shortReplay+1)
		load(1, shortReplay)()
		load(2, shortReplay+1)()
		one()
		load(1, shortReplay+1)()
		other()

		whole := load(1, 10*addressReplay)
		var order []byte
		search := func(address byte) {
			done, err := s.admitSearch(from(address), 10*addressReplay)
			if assert.NoError(t, err) {
				order = append(order, address)
				done()
			}
		}
		for range 20 {
			go search(1)
		}
		synctest.Wait()
		go search(2)
		synctest.Wait()
		assert.Equal(t, []byte{2}, order)
		load(1, shortReplay)()
		whole()
		synctest.Wait()
		require.Len(t, order, 21)

		for address := range byte(2) {
			defer load(address, addressReplay)()
		}
		refused(3, shortReplay+1) // an address more than the server allows
		began := time.Now()
		_, err := s.admitSearch(from(3), shortReplay+1)
		assert.Equal(t, "replays_at_once", refusedBy(err))
		assert.Equal(t, readWait, time.Since(began))
		done, err := s.admitReplay(t.Context(), s.streamReplays, "192.0.2.1", addressReplay, 1, 0)
		require.NoError(t, err, "streams have a limit of their own")
		done()
	})
}

// Ensure that a replay that is refused because there are others does not count as reads, and that one
// that would exceed the limit on reads leaves room for others.
func TestAdmitReplay_Refused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{Limits: limits.Limits{ReplaysAtOnce: 1, ReadsPerAddressPerSecond: 1000}})
		done, err := s.admitLoad(t.Context(), addressReplay)
		require.NoError(t, err)
		for range 100 {
			_, err := s.admitLoad(t.Context(), addressReplay)
			assert.Equal(t, "replays_at_once", refusedBy(err))
		}
		done()
		for range 3 { // a quarter of the burst each
			done, err := s.admitLoad(t.Context(), addressReplay)
			require.NoError(t, err)
			done()
		}
		for range 3 {
			_, err := s.admitLoad(t.Context(), addressReplay)
			assert.Equal(t, "reads_per_address_per_second", refusedBy(err))
		}
	})
}

// Ensure that a server without limits replays any number of logs at once.
func TestAdmitReplay_Unlimited(t *testing.T) {
	t.Parallel()
	s := New(Config{})
	for range 10 {
		_, err := s.admitSearch(t.Context(), 1_000_000)
		require.NoError(t, err)
	}
}
