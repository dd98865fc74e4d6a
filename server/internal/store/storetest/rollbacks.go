package storetest

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/server/internal/store"
)

func rollbacks(t *testing.T, open Open) {
	t.Run("servers detect that the store lost their heartbeats, and record one rollback", func(t *testing.T) {
		h := newHeartbeats(t, open)
		h.left("a", 10*time.Second) // as if the store held a copy that was made at that time
		h.left("b", 12*time.Second)
		b := h.send(store.Heartbeat{ServerID: "fresh"})
		assert.False(t, b.RolledBack, "a server without an acknowledged heartbeat cannot detect a rollback")
		assert.True(t, b.Rollback.At.IsZero())
		assert.False(t, b.Rollback.Pending())

		of := func(serverID string, acknowledged time.Duration) store.Heartbeat {
			return store.Heartbeat{
				ServerID: serverID, Acknowledged: h.ago(acknowledged), Since: h.ago(time.Hour),
				Known: map[string]store.ServerHeartbeat{
					"fresh": {At: h.ago(time.Hour), Since: h.ago(time.Hour)},
					"young": {At: h.ago(2 * time.Second), Since: h.ago(3 * time.Second)},
				},
			}
		}
		first := h.send(of("b", 3*time.Second))
		assert.True(t, first.RolledBack)
		assert.False(t, first.Rollback.At.Before(h.began))
		assert.True(t, first.Rollback.Copied.Equal(h.ago(12*time.Second)))
		assert.True(t, first.Rollback.Before.Equal(h.ago(3*time.Second)))
		assert.True(t, first.Rollback.Pending())
		second := h.send(of("a", 2*time.Second))
		assert.False(t, second.RolledBack, "the rollback is the same")
		assert.False(t, h.send(again("b", first)).RolledBack)

		stored, err := h.Servers(t.Context())
		require.NoError(t, err)
		assert.Equal(t, second.Rollback, stored.Rollback)
		assert.True(t, stored.Rollback.At.Equal(first.Rollback.At))
		assert.True(t, stored.Rollback.Copied.Equal(h.ago(10*time.Second)), "the later of the two")
		assert.True(t, stored.Rollback.Before.Equal(h.ago(2*time.Second)), "the later of the two")
		assert.True(t, stored.Servers["young"].Since.Equal(h.ago(3*time.Second)), "the copy does not contain the server")
		assert.False(t, stored.Servers["fresh"].At.Before(h.began), "the newer heartbeat stays")
	})
	t.Run("the time of a copy without a heartbeat of the server is unknown", func(t *testing.T) {
		h := newHeartbeats(t, open)
		b := h.send(store.Heartbeat{ServerID: "a", Acknowledged: h.ago(time.Second), Since: h.ago(time.Minute)})
		assert.True(t, b.RolledBack)
		assert.True(t, b.Rollback.Copied.IsZero())
		assert.True(t, b.Since.Equal(h.ago(time.Minute)))
	})
	t.Run("the loss of an entry is a rollback", func(t *testing.T) {
		h := newHeartbeats(t, open)
		last := h.send(store.Heartbeat{ServerID: "a"})
		lost := again("a", last)
		lost.Lost = true
		b := h.send(lost)
		assert.True(t, b.RolledBack)
		assert.True(t, b.Rollback.Copied.Equal(last.At))
		assert.True(t, b.Rollback.Before.Equal(last.At))
	})
	t.Run("each rollback is pending until it is resolved", func(t *testing.T) {
		h := newHeartbeats(t, open)
		b := h.send(store.Heartbeat{ServerID: "a", Lost: true})
		require.NoError(t, h.Resolve(t.Context(), b.Rollback.At))
		stored, err := h.Servers(t.Context())
		require.NoError(t, err)
		assert.True(t, stored.Rollback.Resolved)
		assert.True(t, stored.Rollback.At.Equal(b.Rollback.At))
		waittest.Until(t, "the store's clock has moved on", func() bool {
			now, err := h.Servers(t.Context())
			require.NoError(t, err)
			return now.Now.Truncate(time.Millisecond).After(b.Rollback.At)
		})
		last := h.send(again("a", b))
		lost := again("a", last)
		lost.Lost = true
		assert.True(t, h.send(lost).Rollback.Pending())
	})
	t.Run("servers that detect a rollback concurrently record one", func(t *testing.T) {
		h := newHeartbeats(t, open)
		first := 0
		for _, b := range allSucceed(t, 8, func(n int) (store.HeartbeatResult, error) {
			return h.Record(t.Context(), limited(store.Heartbeat{
				ServerID: strconv.Itoa(n), Acknowledged: h.ago(time.Second), Since: h.ago(time.Minute),
			}))
		}) {
			if b.RolledBack {
				first++
			}
		}
		assert.Equal(t, 1, first)
	})
}
