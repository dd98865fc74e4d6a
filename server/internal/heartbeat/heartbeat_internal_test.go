package heartbeat

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// monitor returns the Monitor of a server.
func monitor(h store.Heartbeats, server string) *Monitor {
	return New(Config{ServerID: server, Heartbeats: h, Logger: slog.New(slog.DiscardHandler), OnMissing: func() {}})
}

// at returns the time ms milliseconds after a fixed time.
func at(ms int) time.Time { return time.UnixMilli(1_790_000_000_000 + int64(ms)) }

// Ensure that an outage does not include periods in which a server appended, and that only the
// part after the clock started counts.
func TestMonitor_Outage(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx, h := t.Context(), s.Background.Heartbeats
		began, err := s.Time(ctx)
		require.NoError(t, err)
		old := began.Add(-10 * time.Minute).Truncate(time.Millisecond)
		require.NoError(t, h.Leave(ctx, "old", store.ServerHeartbeat{At: old, Since: old}))
		a, b := monitor(h, "a"), monitor(h, "b")
		for _, m := range []*Monitor{b, a} {
			for s := range 60 {
				a.NoteAppend(old.Add(time.Duration(s) * time.Second))
			}
			_, err := m.send(ctx)
			require.NoError(t, err)
		}
		assert.Equal(t, 10*time.Minute, b.Last().Outage.Round(time.Minute))
		assert.Zero(t, a.Last().Outage)
		recorded, err := a.outages(ctx, time.Time{})
		require.NoError(t, err)
		assert.Equal(t, 9*time.Minute, recorded.since(old).Round(10*time.Second))
		assert.Equal(t, 4*time.Minute, recorded.since(began.Add(-4*time.Minute)).Round(10*time.Second))
		assert.Zero(t, recorded.since(began.Add(time.Minute)))
		assert.Empty(t, recorded.settled(a.Last().Now))
		assert.Equal(t, recorded, recorded.settled(a.Last().Now.Add(settleAfter)))
		assert.Empty(t, a.appends.spans(), "the appends have been reported")
	})
}

// delayed calls a function before each heartbeat reaches the store.
type delayed struct {
	store.Heartbeats
	before func()
}

func (d delayed) Record(ctx context.Context, b store.Heartbeat) (store.HeartbeatResult, error) {
	d.before()
	return d.Heartbeats.Record(ctx, b)
}

// Ensure that an append that succeeds while a heartbeat is on its way to the store is reported by
// the next one.
func TestMonitor_AppendDuringHeartbeat(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		now, err := s.Time(t.Context())
		require.NoError(t, err)
		h := &delayed{Heartbeats: s.Background.Heartbeats}
		m := monitor(h, "a")
		h.before = func() { m.NoteAppend(now) }
		_, err = m.send(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []store.Span{{From: now, To: now}}, m.appends.spans())
	})
}

// Ensure that appends are recorded as spans without gaps that would count as outages.
func TestActivity(t *testing.T) {
	t.Parallel()
	var a activity
	for _, ms := range []int{0, 1000, 900, 3500, 10_000, 10_001} {
		a.note(at(ms))
	}
	assert.Equal(t, []store.Span{{From: at(0), To: at(3500)}, {From: at(10_000), To: at(10_001)}}, a.spans())
	reported := a.spans()
	a.note(at(10_002))
	a.forget(reported)
	assert.Equal(t, []store.Span{{From: at(10_000), To: at(10_002)}}, a.spans())
	a.forget(a.spans())
	assert.Empty(t, a.spans())
	for n := range 10 * maxSpans {
		a.note(at(n * 5000))
	}
	assert.Len(t, a.spans(), maxSpans)
}

// Ensure that appends are recorded in order even if a reply was late, for example because it was
// lost and the append was repeated, and that the oldest period is dropped if there are too many.
func TestActivity_Late(t *testing.T) {
	t.Parallel()
	var a activity
	for _, ms := range []int{20_000, 19_000, 5000, 12_000, 7000, 30_000} {
		a.note(at(ms))
	}
	assert.Equal(t, []store.Span{
		{From: at(5000), To: at(7000)},
		{From: at(12_000), To: at(12_000)},
		{From: at(19_000), To: at(20_000)},
		{From: at(30_000), To: at(30_000)},
	}, a.spans())
	for n := range maxSpans {
		a.note(at((maxSpans - n) * 100_000))
	}
	require.Len(t, a.spans(), maxSpans)
	assert.Equal(t, at(100_000), a.spans()[0].From)
}

// Ensure that AliveInCopy returns the servers that were alive in a copy, including one that
// started after the copy was made.
func TestAliveInCopy(t *testing.T) {
	t.Parallel()
	alive := AliveInCopy(store.Rollback{At: at(20_000), Copied: at(10_000), Before: at(15_000)}, map[string]store.ServerHeartbeat{
		"alive": {At: at(9_800), Since: at(0)},
		"slow":  {At: at(7_100), Since: at(0)},
		"dead":  {At: at(6_900), Since: at(0)},
		"left":  {At: at(9_900), Since: at(0), Left: true},
		"young": {At: at(14_500), Since: at(14_000)},
		"new":   {At: at(19_000), Since: at(18_000)},
	})
	slices.Sort(alive)
	assert.Equal(t, []string{"alive", "slow", "young"}, alive)
}

// script is a fake store.Heartbeats that returns canned results.
type script struct {
	store.Heartbeats
	sent    []store.Heartbeat
	result  store.HeartbeatResult
	servers store.ServersNow
	left    []string
}

func (s *script) Record(_ context.Context, b store.Heartbeat) (store.HeartbeatResult, error) {
	s.sent = append(s.sent, b)
	return s.result, nil
}

func (s *script) Servers(context.Context) (store.ServersNow, error) { return s.servers, nil }

func (s *script) Leave(_ context.Context, serverID string, _ store.ServerHeartbeat) error {
	s.left = append(s.left, serverID)
	return nil
}

// Ensure that a server suspects lost writes if the store's process was replaced, and that
// if writes were lost, its report contains the last heartbeat before the replacement.
func TestMonitor_Suspect(t *testing.T) {
	t.Parallel()
	h := &script{result: store.HeartbeatResult{At: at(0), Since: at(0), Run: "one", ServersNow: store.ServersNow{
		Servers: map[string]store.ServerHeartbeat{"a": {At: at(0)}, "b": {At: at(1)}, "left": {At: at(2), Left: true}},
	}}}
	m := monitor(h, "a")
	send := func() {
		t.Helper()
		_, err := m.send(t.Context())
		require.NoError(t, err)
	}
	send()
	send()
	assert.Nil(t, m.Suspect())
	h.result.Run, h.result.At = "two", at(500)
	send()
	suspect := m.Suspect()
	require.NotNil(t, suspect)
	assert.Equal(t, at(0), suspect.At)
	send()
	assert.Same(t, suspect, m.Suspect(), "suspect must stay set until Verified is called")
	require.NoError(t, m.Verified(t.Context(), suspect, true))
	assert.Nil(t, m.Suspect())
	lost := h.sent[len(h.sent)-1]
	assert.True(t, lost.Lost)
	assert.Equal(t, at(0), lost.Acknowledged)
	assert.Equal(t, map[string]store.ServerHeartbeat{"b": {At: at(1)}}, lost.Known)
}

// Ensure that a server records its shutdown, except while its data may be needed to recover from a
// rollback, also if that happened after its last heartbeat.
func TestMonitor_Leave(t *testing.T) {
	t.Parallel()
	const run = "one"
	for name, tt := range map[string]struct {
		after  store.HeartbeatResult // of a heartbeat after the last regular one
		leaves bool
	}{
		"no rollback":       {after: store.HeartbeatResult{Run: run}, leaves: true},
		"resolved":          {after: store.HeartbeatResult{Run: run, ServersNow: store.ServersNow{Rollback: store.Rollback{At: at(0), Resolved: true}}}, leaves: true},
		"a rollback":        {after: store.HeartbeatResult{Run: run, ServersNow: store.ServersNow{Rollback: store.Rollback{At: at(0)}}}},
		"another process":   {after: store.HeartbeatResult{Run: "two"}},
		"unknown processes": {leaves: true},
	} {
		h := &script{}
		m := monitor(h, "a")
		m.Leave(t.Context())
		assert.Empty(t, h.sent, "the server has not joined")
		if tt.after.Run != "" {
			h.result.Run = run
		}
		_, err := m.send(t.Context())
		require.NoError(t, err)
		h.result = tt.after
		m.Leave(t.Context())
		assert.Equal(t, tt.leaves, len(h.left) > 0, name)
		assert.Greater(t, h.sent[len(h.sent)-1].MissingAfter, missingAfter, name)
	}
}

// Ensure that a new server waits only if others may detect a rollback.
func TestJoin(t *testing.T) {
	t.Parallel()
	now := at(0)
	servers := map[string]store.ServerHeartbeat{}
	h := &script{servers: store.ServersNow{Now: now, Servers: servers}}
	m := monitor(h, "new")
	waits := func(waited time.Duration) bool {
		wait, err := m.mustWait(t.Context(), waited)
		require.NoError(t, err)
		return wait
	}
	set := func(age time.Duration, left bool, ids ...string) {
		for _, id := range ids {
			servers[id] = store.ServerHeartbeat{At: now.Add(-age), Since: now.Add(-age), Left: left}
		}
	}
	assert.False(t, waits(0), "there is no other server")
	set(0, false, "a")
	assert.False(t, waits(0))
	set(2*time.Second, false, "b")
	assert.True(t, waits(0))
	assert.False(t, waits(joinAfter))
	set(time.Minute, false, "b")
	assert.False(t, waits(0), "the server died long ago")
	set(time.Hour, false, "a", "b")
	assert.True(t, waits(0))
	set(time.Hour, true, "a", "b")
	assert.False(t, waits(0))
	h.servers.Rollback = store.Rollback{At: at(-7), Copied: at(-9), Before: at(-8)}
	assert.False(t, waits(0), "no other server can handle the rollback")
	set(0, false, "a")
	assert.True(t, waits(0), "recovery from a rollback is in progress")
	assert.False(t, waits(joinAtMost))
	h.servers.Rollback.Resolved = true
	assert.False(t, waits(0))
}
