package server

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
)

func mustOpen(t *testing.T, value string) *connection {
	t.Helper()
	s, err := openStore(value)
	require.NoError(t, err)
	t.Cleanup(s.close)
	return s
}

func TestStore_Embedded(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, Embedded)
	ctx := t.Context()
	require.NoError(t, s.waitReady(ctx))
	require.NoError(t, s.check(ctx, slog.New(slog.DiscardHandler)))

	t.Run("no other client gets in", func(t *testing.T) {
		stranger := redis.NewClient(&redis.Options{Addr: s.embedded.server.Addr()})
		defer func() { _ = stranger.Close() }()
		assert.ErrorContains(t, stranger.Ping(ctx).Err(), "NOAUTH")
	})

	t.Run("keys expire", func(t *testing.T) {
		running, cancel := context.WithCancel(ctx)
		var group sync.WaitGroup
		group.Go(func() { s.embedded.run(running) })
		defer group.Wait()
		defer cancel()
		require.NoError(t, s.reads.Set(ctx, "short", "x", 100*time.Millisecond).Err())
		require.NoError(t, s.reads.Set(ctx, "long", "x", time.Hour).Err())
		require.Eventually(t, func() bool { return s.reads.Exists(ctx, "short").Val() == 0 }, 10*time.Second, 20*time.Millisecond)
		assert.Equal(t, int64(1), s.reads.Exists(ctx, "long").Val())
	})
}

func TestStore_Await(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}

	t.Run("no server", func(t *testing.T) {
		t.Parallel()
		s := mustOpen(t, "redis://:sesame@127.0.0.1:1")
		err := s.waitReady(t.Context())
		assert.EqualError(t, err, "redis at 127.0.0.1:1 does not answer: dial tcp 127.0.0.1:1: connect: connection refused")
	})

	t.Run("a silent server", func(t *testing.T) {
		t.Parallel()
		silent, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer func() { _ = silent.Close() }()
		s := mustOpen(t, "redis://"+silent.Addr().String())
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		assert.ErrorContains(t, s.waitReady(ctx), "does not answer")
	})

	t.Run("wrong password", func(t *testing.T) {
		t.Parallel()
		server := redistest.StartMiniredis(t)
		server.RequireAuth("open sesame")
		s := mustOpen(t, "redis://:sesame@"+server.Addr())
		err := s.waitReady(t.Context())
		assert.ErrorContains(t, err, "refuses: WRONGPASS")
		assert.NotContains(t, err.Error(), "sesame")
	})

	t.Run("still loading", func(t *testing.T) {
		t.Parallel()
		server := redistest.StartMiniredis(t)
		server.SetError("LOADING Redis is loading the dataset in memory")
		time.AfterFunc(300*time.Millisecond, func() { server.SetError("") })
		assert.NoError(t, mustOpen(t, "redis://"+server.Addr()).waitReady(t.Context()))
	})
}

func TestStore_Check(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		args []string
		want []string
	}{
		{"as it should be", []string{"--appendonly", "yes", "--appendfsync", "always"}, nil},
		{"nothing kept", nil, []string{"setting=appendonly"}},
		{
			"kept loosely",
			[]string{"--appendonly", "yes", "--maxmemory-policy", "allkeys-lru"},
			[]string{"setting=appendfsync", "setting=maxmemory-policy"},
		},
		{
			"not told",
			[]string{"--appendonly", "yes", "--rename-command", "CONFIG", ""},
			[]string{`level=INFO msg="redis does not tell its appendfsync`},
		},
		{
			"not told, and kept nowhere",
			[]string{"--rename-command", "CONFIG", "", "--maxmemory-policy", "allkeys-lru"},
			[]string{"setting=appendonly", "setting=maxmemory-policy"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := redistest.StartRedis(t, tt.args...)
			s := mustOpen(t, server.URL())
			var log bytes.Buffer
			logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			require.NoError(t, s.check(t.Context(), logger))
			assert.Len(t, bytes.Split(bytes.TrimSpace(log.Bytes()), []byte("\n")), max(1, len(tt.want)), log.String())
			for _, want := range tt.want {
				assert.Contains(t, log.String(), want)
			}
		})
	}
}

func TestCheckVersion(t *testing.T) {
	t.Parallel()
	for info, want := range map[string]string{
		"# Server\r\nredis_version:7.0.0\r\nredis_mode:standalone\r\n": "",
		"# Server\r\nredis_version:8.2.1\r\n":                          "",
		"# Server\r\nredis_version:6.2.14\r\n":                         "redis at r:1 is version 6.2.14; it must be 7.0 or newer",
		"# Server\r\nserver_name:other\r\n":                            "",
	} {
		err := checkVersion("r:1", parseInfo(info))
		if want == "" {
			assert.NoError(t, err)
		} else {
			assert.EqualError(t, err, want)
		}
	}
}

func TestStore_Watch(t *testing.T) {
	t.Parallel()
	server := redistest.StartMiniredis(t)
	s := mustOpen(t, "redis://"+server.Addr())
	states := make(chan bool, 10)
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	group.Go(func() {
		s.monitor(ctx, slog.New(slog.DiscardHandler), 20*time.Millisecond, func(up bool) { states <- up })
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
