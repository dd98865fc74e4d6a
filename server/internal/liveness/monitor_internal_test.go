package liveness

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/store"
)

// monitor returns the Monitor of a server.
func monitor(h store.Heartbeats, server string) *Monitor {
	return New(Config{ServerID: server, Heartbeats: h, Logger: slog.New(slog.DiscardHandler)})
}

// at returns the time ms milliseconds after a fixed time.
func at(ms int) time.Time { return time.UnixMilli(1_790_000_000_000 + int64(ms)) }

// Ensure that a clock that ran during an outage gets a full turn from its end, once.
func TestCredit(t *testing.T) {
	t.Parallel()
	const limit = time.Minute
	outage := store.Span{From: at(0), To: at(100_000)}
	for _, tt := range []struct {
		name  string
		began int // of the clock, in milliseconds
		want  time.Duration
	}{
		{"began long before", -59_999, 100*time.Second + 59_999*time.Millisecond},
		{"had run out before", -60_000, 0},
		{"began during the outage", 50_000, 50 * time.Second},
		{"began after it", 100_000, 0},
	} {
		state := &replay.State{TurnLimit: limit, Clock: replay.Clock{From: at(tt.began), Version: 1}}
		assert.Equal(t, tt.want, credit(state, outage), tt.name)
		assert.Zero(t, credit(state, store.Span{}), tt.name)
		if tt.want > 0 {
			state.Clock.Extended = tt.want
			assert.Equal(t, outage.To.Add(limit), state.Deadline(), tt.name)
			assert.Zero(t, credit(state, outage), tt.name)
		}
	}
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
	s.result.At = s.result.At.Add(interval)
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
		_, err := m.send(t.Context(), false)
		require.NoError(t, err)
	}
	send()
	send()
	assert.Nil(t, m.suspicion.Load())
	h.result.Run = "two"
	send()
	suspected := m.suspicion.Load()
	require.NotNil(t, suspected)
	send()
	assert.Same(t, suspected, m.suspicion.Load(), "a Recovery ends the suspicion")
	assert.Empty(t, log.String())
	suspected.confirm(m.Logger)
	assert.Contains(t, log.String(), "gridstand-server quarantine --before "+at(0).Add(3*interval).UTC().Format(time.RFC3339Nano))

	h.result.At, h.sent = at(0), nil
	log.Reset()
	send()
	require.NotSame(t, suspected, m.suspicion.Load())
	m.suspicion.Load().confirm(m.Logger)
	assert.Equal(t, 1, strings.Count(log.String(), "redis-rolled-back"))
	require.Len(t, h.sent, 2)
	assert.Zero(t, h.sent[1].Acknowledged)
}

// replies is a fake store.Heartbeats that calls next for each heartbeat and returns its error.
type replies struct {
	store.Heartbeats
	next func() error
}

func (r replies) Record(context.Context, store.Heartbeat) (store.HeartbeatResult, error) {
	return store.HeartbeatResult{At: at(0)}, r.next()
}

// Ensure that a store that answers but refuses writes is logged once, and again when it accepts them, and that
// one that does not answer is not taken for either.
func TestMonitor_Refused(t *testing.T) {
	t.Parallel()
	full, away := store.Failed("oom", "out of memory"), store.Failed(store.Connection, "connection refused")
	for alone, id := range map[bool]string{false: "id=redis-not-written", true: "id=file-not-written"} {
		heartbeats := []struct {
			err  error
			want string
		}{
			{nil, ""},
			{away, ""},
			{nil, ""},
			{full, id},
			{full, ""},
			{away, ""},
			{full, ""},
			{nil, "the store accepts writes again"},
			{nil, ""},
			{full, id},
		}
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			ctx, stop := context.WithCancel(t.Context())
			sent := 0
			m := New(Config{Alone: alone, Logger: slog.New(slog.NewTextHandler(&log, nil)), Heartbeats: replies{next: func() error {
				if sent > 0 {
					want := heartbeats[sent-1].want
					assert.Equal(t, want != "", log.Len() > 0, log.String())
					assert.Contains(t, log.String(), want)
				}
				log.Reset()
				if sent == len(heartbeats) {
					stop()
					return nil
				}
				sent++
				return heartbeats[sent-1].err
			}}})
			m.Run(ctx)
		})
	}
}
