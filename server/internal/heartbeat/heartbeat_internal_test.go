package heartbeat

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
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
		require.NoError(t, h.Leave(ctx, "old", old))
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

// script is a fake store.Heartbeats that returns canned results.
type script struct {
	store.Heartbeats
	sent   []store.Heartbeat
	result store.HeartbeatResult
}

func (s *script) Record(_ context.Context, b store.Heartbeat) (store.HeartbeatResult, error) {
	s.sent = append(s.sent, b)
	if s.result.RolledBack = b.Acknowledged.After(s.result.At); s.result.RolledBack {
		return s.result, nil
	}
	s.result.At = s.result.At.Add(Interval)
	return s.result, nil
}

// Ensure that a server suspects lost writes if the store's process was replaced, and knows that
// some were lost if its own heartbeat was, which it then sends again.
func TestMonitor_Suspicion(t *testing.T) {
	t.Parallel()
	h := &script{result: store.HeartbeatResult{At: at(0), Run: "one"}}
	var log bytes.Buffer
	m := monitor(h, "a")
	m.Logger = slog.New(slog.NewTextHandler(&log, nil))
	send := func() {
		t.Helper()
		_, err := m.send(t.Context())
		require.NoError(t, err)
	}
	send()
	send()
	assert.Nil(t, m.Suspicion())
	h.result.Run = "two"
	send()
	suspicion := m.Suspicion()
	require.NotNil(t, suspicion)
	send()
	assert.Same(t, suspicion, m.Suspicion(), "the suspicion must last until Resolve is called")
	assert.Empty(t, log.String())
	m.Confirm(suspicion)
	assert.Contains(t, log.String(), "gridstand-server quarantine --before "+at(0).Add(3*Interval).UTC().Format(time.RFC3339Nano))
	m.Resolve(suspicion)
	assert.Nil(t, m.Suspicion())

	h.result.At, h.sent = at(0), nil
	log.Reset()
	send()
	require.NotNil(t, m.Suspicion())
	m.Resolve(suspicion)
	assert.NotNil(t, m.Suspicion(), "this is another suspicion")
	m.Confirm(m.Suspicion())
	assert.Equal(t, 1, strings.Count(log.String(), "redis-rolled-back"))
	require.Len(t, h.sent, 2)
	assert.Zero(t, h.sent[1].Acknowledged)
}
