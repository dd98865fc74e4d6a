package heartbeat

import (
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// now is the time of Redis's clock.
func now(t *testing.T, client redis.UniversalClient) time.Time {
	t.Helper()
	at, err := client.Time(t.Context()).Result()
	require.NoError(t, err)
	return at.Truncate(time.Millisecond)
}

// setLast makes a server's last heartbeat that old.
func setLast(t *testing.T, client redis.UniversalClient, server string, age time.Duration) {
	t.Helper()
	at := now(t, client).Add(-age).UnixMilli()
	require.NoError(t, client.HSet(t.Context(), serversKey, server, fmt.Sprintf("%d %d", at, at-1)).Err())
}

// monitor makes a server's Monitor.
func monitor(client redis.UniversalClient, server string) *Monitor {
	return New(Config{ServerID: server, Client: client, Logger: slog.New(slog.DiscardHandler), OnMissing: func() {}})
}

// servers sends heartbeats of servers.
type servers struct{ client redis.UniversalClient }

func (s servers) send(t *testing.T, server string, last *Beat, appends ...span) *Beat {
	t.Helper()
	b, err := monitor(s.client, server).send(t.Context(), last, appends, false)
	require.NoError(t, err)
	return b
}

// Ensure that an outage is recorded once, by one of the servers that are back,
// and a shorter gap not at all.
func TestHeartbeat_Outage(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		ctx, a := t.Context(), servers{client}
		began := now(t, client)
		outage := func(since time.Duration) time.Duration {
			from := time.Now().Add(-since)
			recorded, err := monitor(client, "a").outages(ctx, from)
			require.NoError(t, err)
			return recorded.since(from).Round(time.Minute)
		}
		assert.Zero(t, a.send(t, "first", nil).outage)
		for _, quiet := range []time.Duration{0, time.Millisecond, outageAfter - 2*time.Second} {
			require.NoError(t, client.Del(ctx, serversKey).Err())
			setLast(t, client, "old", quiet)
			h := a.send(t, "new", nil)
			assert.Zero(t, h.outage)
			assert.WithinRange(t, h.Now, began, time.Now().Add(time.Second))
		}
		assert.Zero(t, outage(time.Hour))

		require.NoError(t, client.Del(ctx, serversKey).Err())
		setLast(t, client, "old", 10*time.Minute)
		setLast(t, client, "older", time.Hour)
		var group sync.WaitGroup
		var mu sync.Mutex
		var outages []time.Duration
		for n := range 8 {
			group.Go(func() {
				h, err := monitor(client, strconv.Itoa(n)).send(ctx, nil, nil, false)
				if !assert.NoError(t, err) {
					return
				}
				mu.Lock()
				defer mu.Unlock()
				if h.outage > 0 {
					outages = append(outages, h.outage.Round(time.Minute))
				}
			})
		}
		group.Wait()
		assert.Equal(t, []time.Duration{10 * time.Minute}, outages)
		assert.Equal(t, 10*time.Minute, outage(time.Hour))
		assert.Equal(t, 4*time.Minute, outage(4*time.Minute), "outages before a clock started do not count")
		assert.Zero(t, outage(-time.Minute))

		// They add up, and are forgotten when no clock can have seen them.
		require.NoError(t, client.Del(ctx, serversKey).Err())
		setLast(t, client, "old", 3*time.Minute)
		assert.Equal(t, 3*time.Minute, a.send(t, "new", nil).outage.Round(time.Minute))
		assert.Equal(t, 13*time.Minute, outage(time.Hour))
		old := began.Add(-outagesKept - time.Hour).UnixMilli()
		require.NoError(t, client.ZAdd(ctx, outagesKey, redis.Z{Score: float64(old), Member: "1 " + strconv.FormatInt(old, 10)}).Err())
		require.NoError(t, client.Del(ctx, serversKey).Err())
		setLast(t, client, "old", time.Minute)
		a.send(t, "new", nil)
		assert.EqualValues(t, 3, client.ZCard(ctx, outagesKey).Val())
	})
}

// Ensure that time in which an append succeeded is no outage, for every server
// that appends and every server that sends the first heartbeat after the gap.
func TestHeartbeat_AppendsInGap(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		a := servers{client}
		for _, test := range []struct {
			name    string
			appends [][2]int // seconds of a gap of 60
			want    int      // seconds of outage
		}{
			{"none", nil, 60},
			{"throughout", [][2]int{{-5, 60}}, 0},
			{"throughout, in spans", [][2]int{{1, 20}, {22, 40}, {42, 58}}, 0},
			{"until the middle", [][2]int{{-5, 30}}, 30},
			{"from the middle", [][2]int{{30, 60}}, 30},
			{"once", [][2]int{{30, 30}}, 60}, // two outages beside each other
			{"before", [][2]int{{-5, -1}}, 60},
		} {
			for _, reported := range []string{"first", "later"} {
				require.NoError(t, client.Del(t.Context(), serversKey, outagesKey).Err())
				setLast(t, client, "a", time.Minute)
				began := now(t, client).Add(-time.Minute)
				var spans []span
				for _, s := range test.appends {
					spans = append(spans, span{began.Add(time.Duration(s[0]) * time.Second), began.Add(time.Duration(s[1]) * time.Second)})
				}
				if reported == "later" {
					a.send(t, "b", nil)
				}
				a.send(t, "a", nil, spans...)
				a.send(t, "a", nil, spans...) // again
				recorded, err := monitor(client, "a").outages(t.Context(), time.Time{})
				require.NoError(t, err)
				assert.InDelta(t, test.want, recorded.since(began.Add(-time.Minute)).Seconds(), 0.9, "%s, reported %s", test.name, reported)
			}
		}
	})
}

// Ensure that appends are remembered as the spans that a gap is compared with.
func TestActivity(t *testing.T) {
	t.Parallel()
	var a activity
	at := func(ms int) time.Time { return time.UnixMilli(1_790_000_000_000 + int64(ms)) }
	for _, ms := range []int{0, 1000, 900, 3500, 10_000, 10_001} {
		a.note(at(ms))
	}
	assert.Equal(t, []span{{at(0), at(3500)}, {at(10_000), at(10_001)}}, a.spans())
	a.forget(at(3000))
	assert.Len(t, a.spans(), 2)
	a.forget(at(3501))
	assert.Equal(t, []span{{at(10_000), at(10_001)}}, a.spans())
	a.forget(at(11_000))
	assert.Empty(t, a.spans())
	for n := range 10 * maxSpans {
		a.note(at(n * 5000))
	}
	assert.Len(t, a.spans(), maxSpans)
}

// Ensure that a server's heartbeat never goes back if Redis was restored on a
// machine whose clock is behind.
func TestHeartbeat_NeverBack(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		setLast(t, client, "a", -time.Hour)
		before := client.HGet(t.Context(), serversKey, "a").Val()
		h := servers{client}.send(t, "a", nil)
		assert.Zero(t, h.outage)
		assert.Equal(t, before[:13], strconv.FormatInt(h.at, 10))
	})
}

// Ensure that each server detects a rollback by its own heartbeat, also if a
// new server has sent one since, and all of them record the same rollback.
func TestHeartbeat_Rollback(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		ctx, a := t.Context(), servers{client}
		sent := map[string]*Beat{"a": a.send(t, "a", nil), "b": a.send(t, "b", nil)}
		a.send(t, "dead", nil)
		dump := client.HGetAll(ctx, serversKey).Val()
		copied := now(t, client)
		require.Eventually(t, func() bool { return now(t, client).After(copied) }, time.Minute, time.Millisecond)
		for id, h := range sent {
			sent[id] = a.send(t, id, h)
		}
		a.send(t, "young", nil) // and dies with Redis
		sent["a"] = a.send(t, "a", sent["a"])
		require.Zero(t, sent["a"].Rollback.ID())

		require.NoError(t, client.Del(ctx, serversKey).Err())
		for id, value := range dump {
			require.NoError(t, client.HSet(ctx, serversKey, id, value).Err())
		}
		require.Eventually(t, func() bool { return now(t, client).UnixMilli() > sent["a"].at }, time.Minute, time.Millisecond)
		fresh := a.send(t, "fresh", nil)
		assert.False(t, fresh.rolledBack)
		assert.Zero(t, fresh.Rollback.ID())
		first := a.send(t, "b", sent["b"])
		assert.True(t, first.rolledBack)
		second := a.send(t, "a", sent["a"])
		assert.False(t, second.rolledBack)
		again := a.send(t, "b", first)
		assert.False(t, again.rolledBack)
		assert.Equal(t, first.Rollback.At, again.Rollback.At)
		assert.Equal(t, sent["a"].at, again.Rollback.Before.UnixMilli(), "the later of the two")
		assert.True(t, again.Rollback.Pending())
		expected := again.Rollback.AliveInCopy(again.Servers)
		slices.Sort(expected)
		assert.Equal(t, []string{"a", "b", "dead", "young"}, expected)
	})
}

// Ensure that a missing server is reported once, one that left is not, and both
// are forgotten in the end.
func TestHeartbeat_Missing(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		ctx, a := t.Context(), servers{client}
		left := monitor(client, "left")
		_, err := left.beat(ctx)
		require.NoError(t, err)
		left.Leave(ctx)
		at := now(t, client).Add(-time.Minute).UnixMilli()
		value := client.HGet(ctx, serversKey, "left").Val()
		require.NoError(t, client.HSet(ctx, serversKey, "left", strconv.FormatInt(at, 10)+value[13:]).Err())
		setLast(t, client, "dead", time.Minute)
		a.send(t, "alive", nil)
		h := a.send(t, "a", nil)
		assert.Equal(t, 0, h.missing, "reported to the server before")
		setLast(t, client, "dead", time.Minute)
		h = a.send(t, "a", h)
		assert.Equal(t, 1, h.missing)
		h = a.send(t, "a", h)
		assert.Equal(t, 0, h.missing)
		assert.Len(t, h.Servers, 4)
		assert.True(t, h.Servers["left"].Left)
		assert.False(t, h.Servers["dead"].Left)

		setLast(t, client, "dead", outagesKept+time.Hour)
		a.send(t, "a", h)
		h = a.send(t, "a", h)
		assert.NotContains(t, h.Servers, "dead")
		for n := range maxServers + 3 {
			setLast(t, client, strconv.Itoa(n), time.Minute)
		}
		for range 10 {
			h = a.send(t, "a", h)
		}
		assert.Len(t, h.Servers, maxServers)
		assert.Contains(t, h.Servers, "a")
	})
}

// Ensure that a new server waits only if others may know of a rollback.
func TestJoin(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		ctx := t.Context()
		m := monitor(client, "new")
		waits := func(waited time.Duration) bool {
			wait, err := m.mustWait(ctx, waited)
			require.NoError(t, err)
			return wait
		}
		assert.False(t, waits(0), "there is no other server")
		setLast(t, client, "a", 0)
		assert.False(t, waits(0))
		setLast(t, client, "b", 2*time.Second)
		assert.True(t, waits(0))
		assert.False(t, waits(joinAfter))
		setLast(t, client, "b", time.Minute)
		assert.False(t, waits(0), "it died long ago")
		setLast(t, client, "a", time.Hour)
		setLast(t, client, "b", time.Hour)
		assert.True(t, waits(0))
		for _, id := range []string{"a", "b"} {
			require.NoError(t, client.HSet(ctx, serversKey, id, client.HGet(ctx, serversKey, id).Val()+" left").Err())
		}
		assert.False(t, waits(0))
		require.NoError(t, client.HSet(ctx, rollbackKey, "at", 7, "from", 5, "before", 6).Err())
		assert.False(t, waits(0), "no server is there to deal with the rollback")
		setLast(t, client, "a", 0)
		assert.True(t, waits(0), "a rollback is being dealt with")
		assert.False(t, waits(joinAtMost))
		require.NoError(t, client.HSet(ctx, rollbackKey, "swept", 7).Err())
		assert.False(t, waits(0))
	})
}
