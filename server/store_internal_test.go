package server

import (
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// startMonitor opens and monitors a store, and returns a channel that receives the changes of its state.
func startMonitor(t *testing.T, value string, logger *slog.Logger) <-chan bool {
	t.Helper()
	s, err := (&Config{Store: value}).openStore(t.Context(), logger)
	require.NoError(t, err)
	states := make(chan bool, 10)
	var group sync.WaitGroup
	group.Go(func() {
		monitor(t.Context(), s.Background.Engine, slog.New(slog.DiscardHandler), 20*time.Millisecond, func(up bool) { states <- up })
	})
	t.Cleanup(func() {
		group.Wait()
		assert.NoError(t, s.Close())
	})
	return states
}

func TestMonitor(t *testing.T) {
	t.Parallel()
	server := redistest.StartMiniredis(t)
	states := startMonitor(t, "redis://"+server.Addr(), slog.New(slog.DiscardHandler))
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
	states := startMonitor(t, server.URL(), slog.New(slog.NewTextHandler(lines, nil)))
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
