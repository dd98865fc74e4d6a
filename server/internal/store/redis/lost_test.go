package redis

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// Ensure that a claim whose reply is lost returns an error. A retry would return that another server
// has claimed the work.
func TestClaim_LostReply(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		proxy := redistest.StartProxy(t, r.addr)
		lossy := openAt(t, proxy.Addr()).Heartbeats
		_, err := lossy.Claim(t.Context(), "other", time.Hour) // so that it is connected
		require.NoError(t, err)
		release, result := proxy.Hold(), make(chan error, 1)
		go func() {
			_, err := lossy.Claim(t.Context(), "work", time.Hour)
			result <- err
		}()
		waittest.Until(t, "the work is claimed", func() bool { return r.client.Exists(t.Context(), claimKey("work")).Val() == 1 })
		proxy.Cut()
		release()
		require.Error(t, waittest.Receive(t, "the outcome", result))
	})
}
