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
		monitor(ctx, s.Background, slog.New(slog.DiscardHandler), 20*time.Millisecond, func(up bool) { states <- up })
	})

	next := func() bool {
		select {
		case up := <-states:
			return up
		case <-time.After(10 * time.Second):
			require.Fail(t, "nothing was told")
			return false
		}
	}
	assert.True(t, next(), "at first")
	server.SetError("LOADING")
	assert.False(t, next(), "away")
	server.SetError("")
	assert.True(t, next(), "back")
	assert.Empty(t, states, "changes only")
}
