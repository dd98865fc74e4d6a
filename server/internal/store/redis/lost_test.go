package redis

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Ensure that the outcome of an append is unknown if its reply is lost, and that
// repeating the append succeeds without writing the entry twice.
func TestAppend_LostReply(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		proxy := redistest.StartProxy(t, r.addr)
		lossy, gameID := openAt(t, proxy.Addr()).Games, name("a")
		last := r.create(gameID, 1)
		for range 5 {
			e := entry(last)
			lost := proxy.Lose(1)
			_, err := lossy.Append(t.Context(), gameID, e)
			require.ErrorIs(t, err, store.ErrUnsettled)
			<-lost
			require.Len(t, r.content(gameID).log, int(e.Next.Version))

			r.unchanged(gameID, func() {
				again, err := lossy.Append(t.Context(), gameID, e)
				require.NoError(t, err)
				assert.Equal(t, -1, again.Watchers)
			})
			last = e.Next
		}
		r.sound(gameID, last)
	})
}
