package redis

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
)

// Ensure that after Redis' clock was set back by an hour, servers that died before do not hide outages, and
// that those that still run do not take their own heartbeats for lost.
func TestHeartbeats_ClockSetBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx := t.Context()
		ahead := time.Now().Add(time.Hour).Truncate(time.Millisecond)
		text := milliText(ahead) + " " + milliText(ahead)
		require.NoError(t, r.client.HSet(ctx, serversKey, "runs", text, "dead", text, "left", text+" left").Err())
		record := func(acknowledged time.Time) store.HeartbeatResult {
			b, err := r.store.Heartbeats.Record(ctx, store.Heartbeat{
				ServerID: "runs", Acknowledged: acknowledged, Keep: time.Hour, MaxServers: 10,
			})
			require.NoError(t, err)
			assert.False(t, b.RolledBack)
			return b
		}
		b := record(ahead)
		assert.Zero(t, b.Outage, "it is unknown when the last heartbeat was")
		stored, err := r.store.Heartbeats.Servers(ctx)
		require.NoError(t, err)
		for id, server := range stored.Servers {
			assert.Equal(t, store.ServerHeartbeat{At: b.Now, Left: id == "left"}, server, id)
		}
		// As long as no heartbeat may be missing, every millisecond without one is an outage.
		until := time.Now().Add(time.Minute)
		for next := b; next.Outage.To.IsZero(); next = record(next.At) {
			require.True(t, time.Now().Before(until), "no outage was seen")
			assert.True(t, next.At.Equal(ahead))
		}
	})
}
