package storetest

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
)

// These are the limits in the tests' heartbeats.
const (
	outageAfter    = time.Minute
	outageJoins    = 2 * time.Minute
	keepHeartbeats = 24 * time.Hour
	maxServers     = 10
)

// heartbeats is the store.Heartbeats under test, with helpers. Its store was empty at the
// start.
type heartbeats struct {
	store.Heartbeats
	dumper store.Dumper
	t      *testing.T
	began  time.Time
}

func newHeartbeats(t *testing.T, s *store.Store) heartbeats {
	t.Helper()
	began, err := s.Time(t.Context())
	require.NoError(t, err)
	return heartbeats{s.Background.Heartbeats, s.Dumper, t, began.Truncate(time.Millisecond)}
}

// ago returns the time d before the start of the test.
func (h heartbeats) ago(d time.Duration) time.Time { return h.began.Add(-d) }

// plant stores the last heartbeat of a server as of the given time.
func (h heartbeats) plant(server string, at time.Time) {
	h.t.Helper()
	item := store.Item{Server: &store.DumpedServer{ServerID: server, ServerHeartbeat: store.ServerHeartbeat{At: at}}}
	require.NoError(h.t, h.dumper.Restore(h.t.Context(), []store.Item{item}))
}

// send stores a heartbeat, which must succeed.
func (h heartbeats) send(b store.Heartbeat) store.HeartbeatResult {
	h.t.Helper()
	result, err := h.Record(h.t.Context(), limited(b))
	require.NoError(h.t, err)
	return result
}

// limited sets a heartbeat's limits to the constants above.
func limited(b store.Heartbeat) store.Heartbeat {
	b.OutageAfter, b.Joins, b.Keep, b.MaxServers = outageAfter, outageJoins, keepHeartbeats, maxServers
	return b
}

// again returns the heartbeat that server a sends after an acknowledged one.
func again(last store.HeartbeatResult) store.Heartbeat {
	return store.Heartbeat{ServerID: "a", Acknowledged: last.At}
}

// Heartbeats tests the contract of store.Heartbeats.
func Heartbeats(t *testing.T, open Open) {
	t.Run("a heartbeat is stored", func(t *testing.T) {
		h := newHeartbeats(t, open(t))
		empty, err := h.Servers(t.Context())
		require.NoError(t, err)
		assert.Empty(t, empty.Servers)
		assert.WithinRange(t, empty.Now, h.began, h.began.Add(time.Minute))

		first := h.send(store.Heartbeat{ServerID: "a"})
		assert.WithinRange(t, first.Now, h.began, h.began.Add(time.Minute))
		b := h.send(store.Heartbeat{ServerID: "b"})
		second := h.send(again(first))
		assert.False(t, second.At.Before(b.At))
		for _, result := range []store.HeartbeatResult{first, b, second} {
			assert.Equal(t, store.HeartbeatResult{Now: result.At, At: result.At, Run: first.Run}, result)
		}

		stored, err := h.Servers(t.Context())
		require.NoError(t, err)
		servers := map[string]store.ServerHeartbeat{"a": {At: second.At.UTC()}, "b": {At: b.At.UTC()}}
		assert.Equal(t, servers, stored.Servers)
	})
	t.Run("a server that shuts down has left until its next heartbeat", func(t *testing.T) {
		h := newHeartbeats(t, open(t))
		for _, leaves := range []bool{false, true, false} {
			h.send(store.Heartbeat{ServerID: "a", Leaves: leaves})
			h.send(store.Heartbeat{ServerID: "b"})
			stored, err := h.Servers(t.Context())
			require.NoError(t, err)
			assert.Equal(t, leaves, stored.Servers["a"].Left)
			assert.False(t, stored.Servers["b"].Left)
		}
	})
	t.Run("a heartbeat does not go back if the clock does", func(t *testing.T) {
		h := newHeartbeats(t, open(t))
		h.plant("a", h.ago(-time.Hour))
		b := h.send(store.Heartbeat{ServerID: "a"})
		assert.Zero(t, b.Outage)
		assert.True(t, b.At.Equal(h.ago(-time.Hour)))
	})
	t.Run("a server detects that the store went back in time until it has seen that", func(t *testing.T) {
		rollbacks(t, newHeartbeats(t, open(t)))
	})
}

// rollbacks tests that a server detects that the store lost its heartbeat, also if it misses
// the reply.
func rollbacks(t *testing.T, h heartbeats) {
	// It is as if the store held a copy that was made at this time.
	h.plant("a", h.ago(10*time.Second))
	assert.False(t, h.send(store.Heartbeat{ServerID: "fresh"}).RolledBack, "no heartbeat was acknowledged")
	for _, server := range []string{"a", "a", "forgotten"} {
		b := h.send(store.Heartbeat{ServerID: server, Acknowledged: h.ago(3 * time.Second)})
		assert.True(t, b.RolledBack)
		if server == "a" {
			assert.True(t, b.At.Equal(h.ago(10*time.Second)))
		}
	}
	stored, err := h.Servers(t.Context())
	require.NoError(t, err)
	assert.True(t, stored.Servers["a"].At.Equal(h.ago(10*time.Second)), "nothing was stored")
	assert.NotContains(t, stored.Servers, "forgotten")
	b := h.send(store.Heartbeat{ServerID: "a"})
	assert.False(t, b.RolledBack)
	assert.False(t, h.send(again(b)).RolledBack)
}

// HeartbeatTimes tests the clock-dependent part of the contract of store.Heartbeats.
func HeartbeatTimes(t *testing.T, open OpenClock) {
	t.Run("old servers are removed", func(t *testing.T) {
		s, forward := open(t)
		h := newHeartbeats(t, s)
		servers := func(heartbeats int) map[string]store.ServerHeartbeat {
			for range heartbeats {
				forward(time.Second)
				h.send(store.Heartbeat{ServerID: "a"})
			}
			stored, err := h.Servers(t.Context())
			require.NoError(t, err)
			return stored.Servers
		}
		h.send(store.Heartbeat{ServerID: "old"})
		forward(keepHeartbeats + time.Minute)
		h.send(store.Heartbeat{ServerID: "b"})
		left := servers(2)
		assert.NotContains(t, left, "old")
		assert.Contains(t, left, "b")
		for n := range maxServers {
			h.send(store.Heartbeat{ServerID: strconv.Itoa(n)})
		}
		left = servers(2 * maxServers)
		assert.Len(t, left, maxServers)
		assert.Contains(t, left, "a")
		assert.NotContains(t, left, "b", "the oldest server was kept")
	})
	t.Run("the last time without heartbeats is an outage, which one server ends", func(t *testing.T) {
		s, forward := open(t)
		h := newHeartbeats(t, s)
		last := h.send(store.Heartbeat{ServerID: "a"})
		forward(outageAfter - time.Second)
		last = h.send(again(last))
		assert.Zero(t, last.Outage)
		for range 2 {
			forward(time.Hour)
			ended := 0
			for _, b := range allSucceed(t, 8, func(n int) (store.HeartbeatResult, error) {
				return h.Record(t.Context(), limited(store.Heartbeat{ServerID: strconv.Itoa(n)}))
			}) {
				assert.True(t, b.Outage.From.Equal(last.At), b.Outage.From)
				if b.Outage.To.Equal(b.Now) {
					ended++
				}
			}
			assert.Positive(t, ended)
			first := h.send(again(last))
			forward(time.Second)
			last = h.send(again(first))
			assert.Equal(t, first.Outage, last.Outage, "it is stored")
			assert.Equal(t, time.Hour, last.Outage.To.Sub(last.Outage.From).Round(time.Minute))
			for range 3 { // longer than outageJoins
				forward(outageAfter - time.Second)
				last = h.send(again(last))
			}
		}
	})
	t.Run("an outage soon after the last one continues it", func(t *testing.T) {
		s, forward := open(t)
		h := newHeartbeats(t, s)
		began := h.send(store.Heartbeat{ServerID: "a"})
		last := began
		for range 3 {
			forward(outageJoins)
			last = h.send(again(last))
			assert.Equal(t, store.Span{From: began.At, To: last.Now}, last.Outage)
			forward(outageAfter - time.Second)
			last = h.send(again(last))
		}
	})
}
