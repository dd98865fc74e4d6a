package ratelimit_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/peer"

	"github.com/gridstand/gridstand/server/internal/ratelimit"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/limits"
)

// pages is a store of endless games.
type pages struct{ store.Games }

func (pages) Entries(_ context.Context, _ string, _ int32, n int) ([]store.Record, error) {
	return make([]store.Record, n), nil
}

// Ensure that the history that an address reads counts as its reads, that a read waits until the
// address has paid for what it read before, and that it is refused if that takes too long.
func TestReads_History(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const perSecond = 10
		l := limits.Limits{ReadsPerAddressPerSecond: perSecond}
		reads := ratelimit.NewReads(&l, nil)
		games := reads.History(pages{})
		from := func(n byte) context.Context {
			return peer.NewContext(t.Context(), &peer.Peer{Addr: &net.TCPAddr{IP: net.IPv4(192, 0, 2, n), Port: 1}})
		}
		read := func(ctx context.Context, events int) (waited time.Duration, err error) {
			began := time.Now()
			_, err = games.Entries(ctx, "a", 1, events)
			return time.Since(began), err
		}
		one := from(1)
		for range perSecond * ratelimit.Burst / 10 {
			waited, err := read(one, 500)
			require.NoError(t, err)
			assert.Zero(t, waited)
		}
		require.Error(t, reads.Check(reads.Address(one), 1), "other reads of the address count, too")
		waited, err := read(one, 500)
		require.NoError(t, err)
		assert.Zero(t, waited)
		waited, err = read(one, 1000)
		require.NoError(t, err)
		assert.Equal(t, time.Second, waited.Round(time.Millisecond))
		_, err = read(one, 500)
		var exceeded *limits.ExceededError
		require.ErrorAs(t, err, &exceeded)
		assert.Equal(t, "reads_per_address_per_second", exceeded.Field)
		_, err = read(one, 1)
		require.NoError(t, err, "single entries are free")
		for _, ctx := range []context.Context{from(2), t.Context()} {
			waited, err := read(ctx, 500)
			require.NoError(t, err)
			assert.Zero(t, waited)
		}
	})
}
