package server

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
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

func TestStore_Embedded(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, Memory)
	ctx := t.Context()

	t.Run("no other client gets in", func(t *testing.T) {
		stranger := redis.NewClient(&redis.Options{Addr: s.Engine.(*embedded).server.Addr()})
		defer func() { _ = stranger.Close() }()
		assert.ErrorContains(t, stranger.Ping(ctx).Err(), "NOAUTH")
	})

	t.Run("keys expire", func(t *testing.T) {
		running, cancel := context.WithCancel(ctx)
		var group sync.WaitGroup
		group.Go(func() { s.Run(running) })
		defer group.Wait()
		defer cancel()
		reads := s.Engine.(*embedded).clients.Calls
		require.NoError(t, reads.Set(ctx, "short", "x", 100*time.Millisecond).Err())
		require.NoError(t, reads.Set(ctx, "long", "x", time.Hour).Err())
		require.Eventually(t, func() bool { return reads.Exists(ctx, "short").Val() == 0 }, 10*time.Second, 20*time.Millisecond)
		assert.Equal(t, int64(1), reads.Exists(ctx, "long").Val())
	})
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
