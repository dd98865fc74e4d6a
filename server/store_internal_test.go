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
func startMonitor(t *testing.T, value string) <-chan bool {
	t.Helper()
	s, err := (&Config{Store: value}).openStore(t.Context(), slog.New(slog.DiscardHandler))
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

// Ensure that an outage of the store is reported once, at its beginning and its end.
func TestMonitor(t *testing.T) {
	t.Parallel()
	server := redistest.StartRedis(t)
	states := startMonitor(t, server.URL())
	require.True(t, waittest.Receive(t, "the first state", states))
	server.Pause()
	require.False(t, waittest.Receive(t, "the outage", states))
	server.Resume()
	assert.True(t, waittest.Receive(t, "the store's return", states))
}
