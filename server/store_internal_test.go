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
		monitor(t.Context(), s.Background, slog.New(slog.DiscardHandler), 20*time.Millisecond, func(up bool) { states <- up })
	})
	t.Cleanup(func() {
		group.Wait()
		assert.NoError(t, s.Close())
	})
	return states
}

// Ensure that an outage of the store is reported once, at its beginning and its end, and that settings of
// Redis that are weaker after it are, even if the server was running all the time.
func TestMonitor(t *testing.T) {
	t.Parallel()
	server := redistest.StartRedis(t, "--appendonly", "yes", "--appendfsync", "always")
	lines := make(lineWriter, 100)
	states := startMonitor(t, server.URL(), slog.New(slog.NewTextHandler(lines, nil)))
	require.True(t, waittest.Receive(t, "the first state", states))
	require.NoError(t, redistest.NewClient(t, server.Addr()).ConfigSet(t.Context(), "appendfsync", "everysec").Err())
	server.Pause()
	require.False(t, waittest.Receive(t, "the outage", states))
	assert.Empty(t, lines, "before the outage")
	server.Resume()
	assert.Contains(t, <-lines, "id=redis-can-lose setting=appendfsync value=everysec")
	assert.True(t, waittest.Receive(t, "the store's return", states))
}

// lineWriter is a writer for a log that sends each line.
type lineWriter chan string

func (w lineWriter) Write(line []byte) (int, error) {
	w <- string(line)
	return len(line), nil
}
