package redis

import (
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Ensure that after Redis' clock was set back by an hour, servers that died before do not hide outages, that
// those that still run do not take their own heartbeats for lost, and that an outage from before is forgotten.
func TestHeartbeats_ClockSetBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx := t.Context()
		ahead := time.Now().Add(time.Hour).Truncate(time.Millisecond)
		text := milliText(ahead) + " " + milliText(ahead)
		require.NoError(t, r.client.HSet(ctx, serversKey, "runs", text, "dead", text, "left", text+" left").Err())
		outage := milliText(ahead.Add(-time.Minute)) + " " + milliText(ahead)
		require.NoError(t, r.client.ZAdd(ctx, outagesKey, goredis.Z{Score: float64(ahead.UnixMilli()), Member: outage}).Err())
		record := func(acknowledged time.Time) store.HeartbeatResult {
			b, err := r.store.Heartbeats.Record(ctx, store.Heartbeat{
				ServerID: "runs", Acknowledged: acknowledged, Joins: time.Minute, Keep: time.Hour, MaxServers: 10,
			})
			require.NoError(t, err)
			assert.False(t, b.RolledBack)
			return b
		}
		b := record(ahead)
		assert.Zero(t, b.Outage, "it is unknown when the last heartbeat was")
		assert.Zero(t, r.client.Exists(ctx, outagesKey).Val(), "the outage does not come back when the clock reaches it")
		stored, err := r.store.Heartbeats.Servers(ctx)
		require.NoError(t, err)
		for id, server := range stored.Servers {
			assert.Equal(t, store.ServerHeartbeat{At: b.Now, Left: id == "left"}, server, id)
		}
		// As long as no heartbeat may be missing, every millisecond without one is an outage.
		last := b
		waittest.Until(t, "an outage is seen", func() bool {
			last = record(last.At)
			return !last.Outage.To.IsZero()
		})
		assert.True(t, last.At.Equal(ahead))
		assert.False(t, last.Outage.From.Before(b.Now))
		assert.True(t, last.Outage.From.Before(last.Outage.To))
		assert.Equal(t, last.Now, last.Outage.To)
	})
}
