package server

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/server/internal/store"
)

func mustOpen(t *testing.T, value string) *store.Store {
	t.Helper()
	s, err := (&Config{Store: value}).openStore(t.Context(), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s
}

func TestMonitor(t *testing.T) {
	t.Parallel()
	server := redistest.StartMiniredis(t)
	s := mustOpen(t, "redis://"+server.Addr())
	states := make(chan bool, 10)
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	group.Go(func() {
		monitor(ctx, s.Background.Engine, slog.New(slog.DiscardHandler), 20*time.Millisecond, func(up bool) { states <- up })
	})

	next := func() bool { return waittest.Receive(t, "a change", states) }
	assert.True(t, next(), "at first")
	server.SetError("LOADING")
	assert.False(t, next(), "unavailable")
	server.SetError("")
	assert.True(t, next(), "available again")
	assert.Empty(t, states, "changes only")
}

// Ensure that settings of Redis that are weaker after an outage are reported, even if the
// server was running all the time.
func TestMonitor_Settings(t *testing.T) {
	t.Parallel()
	server := redistest.StartRedis(t, "--appendonly", "yes", "--appendfsync", "always")
	lines := make(lineWriter, 100)
	s, err := (&Config{Store: server.URL()}).openStore(t.Context(), slog.New(slog.NewTextHandler(lines, nil)))
	require.NoError(t, err)
	defer func() { assert.NoError(t, s.Close()) }()
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	states := make(chan bool, 10)
	group.Go(func() {
		monitor(ctx, s.Background.Engine, slog.New(slog.DiscardHandler), 20*time.Millisecond, func(up bool) { states <- up })
	})
	require.True(t, <-states)
	require.NoError(t, redistest.NewClient(t, server.Addr()).ConfigSet(t.Context(), "appendfsync", "everysec").Err())
	server.Pause()
	require.False(t, <-states)
	assert.Empty(t, lines, "before the outage")
	server.Resume()
	assert.Contains(t, <-lines, "id=redis-can-lose setting=appendfsync value=everysec")
}

// lineWriter is a writer for a log that sends each line.
type lineWriter chan string

func (w lineWriter) Write(line []byte) (int, error) {
	w <- string(line)
	return len(line), nil
}
