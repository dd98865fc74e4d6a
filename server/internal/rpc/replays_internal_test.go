package rpc

import (
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

func alwaysAnswers() bool { return true }

// Ensure that a replay of a log counts as one read for each page of its events, or as two if the log
// may be read twice, and that logs of any length can be replayed.
func TestAdmitReplay_Reads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const perSecond, burst = 100, 1000
		s := New(Config{
			Limits:       limits.Limits{ReadsPerAddressPerSecond: perSecond, ReplaysAtOnce: 4},
			StoreAnswers: alwaysAnswers,
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
			require.NoError(t, replay(1_000_000))
			assert.Equal(t, "reads_per_address_per_second", refusedBy(replay(page.DefaultSize)))
			time.Sleep(10 * time.Second) //nolint:forbidigo // The bubble's clock is fake.
		}
	})
}

// Ensure that an address gets one replay of the longest games, or several shorter ones, at once,
// and that its waiting replays do not delay those of other addresses.
func TestAdmitReplay_AtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{Limits: limits.Limits{ReplaysAtOnce: 2}, StoreAnswers: alwaysAnswers})
		replay := func(last byte, events int32) (func(), error) {
			from := &peer.Peer{Addr: &net.TCPAddr{IP: net.IPv4(192, 0, 2, last), Port: 1}}
			return s.admitLoad(peer.NewContext(t.Context(), from), events)
		}
		one, err := replay(1, addressReplay/2)
		require.NoError(t, err)
		other, err := replay(1, addressReplay/2)
		require.NoError(t, err)
		_, err = replay(1, 1)
		assert.Equal(t, "replays_at_once", refusedBy(err))
		one()
		one, err = replay(1, 10)
		require.NoError(t, err)
		other()
		one()

		whole, err := replay(1, 10*addressReplay)
		require.NoError(t, err)
		var order []byte
		wait := func(address byte) {
			done, err := replay(address, 10*addressReplay)
			if assert.NoError(t, err) {
				order = append(order, address)
				done()
			}
		}
		for range 20 {
			go wait(1)
		}
		synctest.Wait()
		go wait(2)
		synctest.Wait()
		assert.Equal(t, []byte{2}, order)
		whole()
		synctest.Wait()
		require.Len(t, order, 21)

		for address := range byte(2) {
			done, err := replay(address, addressReplay)
			require.NoError(t, err)
			defer done()
		}
		_, err = replay(3, 1)
		assert.Equal(t, "replays_at_once", refusedBy(err), "an address more than the server allows")
		done, err := s.admitReplay(t.Context(), s.transcripts, "192.0.2.1", addressReplay, 1)
		require.NoError(t, err, "streams have a limit of their own")
		done()
	})
}

// Ensure that a server without limits replays any number of logs at once.
func TestAdmitReplay_Unlimited(t *testing.T) {
	t.Parallel()
	s := New(Config{StoreAnswers: alwaysAnswers})
	for range 10 {
		_, err := s.admitSearch(t.Context(), 1_000_000)
		require.NoError(t, err)
	}
}
