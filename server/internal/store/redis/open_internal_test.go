package redis

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/server/internal/store"
)

// open opens the store at a Redis URL until the test ends, and returns the log output.
func open(ctx context.Context, t *testing.T, url string) (log string, err error) {
	t.Helper()
	var text bytes.Buffer
	s, err := Open(ctx, url, slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err == nil {
		t.Cleanup(func() { assert.NoError(t, s.Close()) })
	}
	return text.String(), err
}

// waiting is a log that stops the wait once something has been logged.
type waiting struct {
	bytes.Buffer
	stop func()
}

func (w *waiting) Write(b []byte) (int, error) {
	w.stop()
	return w.Buffer.Write(b)
}

func TestOpen_Waits(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}

	t.Run("no server", func(t *testing.T) {
		t.Parallel()
		_, err := open(t.Context(), t, "redis://:sesame@127.0.0.1:1")
		assert.EqualError(t, err, "redis at 127.0.0.1:1 does not answer: dial tcp 127.0.0.1:1: connect: connection refused")
	})

	t.Run("a silent server", func(t *testing.T) {
		t.Parallel()
		silent, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer func() { _ = silent.Close() }()
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		_, err = open(ctx, t, "redis://"+silent.Addr().String())
		assert.ErrorContains(t, err, "does not answer")
	})

	t.Run("wrong password", func(t *testing.T) {
		t.Parallel()
		server := redistest.StartMiniredis(t)
		server.RequireAuth("open sesame")
		_, err := open(t.Context(), t, "redis://:sesame@"+server.Addr())
		assert.ErrorContains(t, err, "refuses commands: WRONGPASS")
		assert.NotContains(t, err.Error(), "sesame")
	})

	t.Run("still loading", func(t *testing.T) {
		t.Parallel()
		server := redistest.StartMiniredis(t)
		server.SetError("LOADING Redis is loading the dataset in memory")
		time.AfterFunc(300*time.Millisecond, func() { server.SetError("") })
		_, err := open(t.Context(), t, "redis://"+server.Addr())
		assert.NoError(t, err)
	})

	t.Run("longer if it is busy than if it is unreachable", func(t *testing.T) {
		t.Parallel()
		paused, stopped := redistest.StartRedis(t), "127.0.0.1:1"
		paused.Pause()
		for addr, busy := range map[string]bool{paused.Addr(): true, stopped: false} {
			options, err := parseURL("redis://" + addr + "?read_timeout=50ms")
			require.NoError(t, err)
			c := connect(options)
			ctx, cancel := context.WithCancel(t.Context())
			log := &waiting{stop: cancel}
			c.Logger = slog.New(slog.NewTextHandler(log, nil))
			assert.ErrorContains(t, c.waitReady(ctx, 0, testPatience), "does not answer")
			cancel()
			assert.Equal(t, busy, strings.Contains(log.String(), "redis is busy"), log.String())
			require.NoError(t, c.close())
		}
	})
}

func TestOpen_Checks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		args []string
		want []string
	}{
		{"durable", []string{"--appendonly", "yes", "--appendfsync", "always"}, nil},
		{"no append-only file", nil, []string{"setting=appendonly"}},
		{
			"fsync and eviction",
			[]string{"--appendonly", "yes", "--maxmemory-policy", "allkeys-lru"},
			[]string{"setting=appendfsync", "setting=maxmemory-policy"},
		},
		{
			"CONFIG not allowed",
			[]string{"--appendonly", "yes", "--rename-command", "CONFIG", ""},
			[]string{`level=INFO msg="cannot read appendfsync from redis`},
		},
		{
			"CONFIG not allowed, no append-only file",
			[]string{"--rename-command", "CONFIG", "", "--maxmemory-policy", "allkeys-lru"},
			[]string{"setting=appendonly", "setting=maxmemory-policy"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := redistest.StartRedis(t, tt.args...)
			log, err := open(t.Context(), t, server.URL())
			require.NoError(t, err)
			assert.Equal(t, len(tt.want), strings.Count(log, "\n"), log)
			for _, want := range tt.want {
				assert.Contains(t, log, want)
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

// Ensure that the URL that identifies a store in logs and command output includes the
// database but not the password.
func TestConnect_URL(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"redis://localhost":                            "redis://localhost:6379/0",
		"rediss://ann:sesame@r:1/3":                    "rediss://r:1/3",
		"redis://:sesame@a:1,b:2":                      "redis://a:1,b:2/0",
		"redis://:sesame@a:1,b:2/2?master_name=master": "redis://a:1,b:2/2?master_name=master",
	} {
		options, err := parseURL(value)
		require.NoError(t, err)
		c := connect(options)
		assert.Equal(t, want, c.URL)
		require.NoError(t, c.close())
	}
}

// Ensure that appends and the commands of the heartbeat, the scheduler and health checks do not
// wait for a connection while client calls use all of theirs.
func TestConnect_SeparateConnections(t *testing.T) {
	t.Parallel()
	options, err := parseURL(redistest.StartRedis(t).URL() + "?pool_size=1")
	require.NoError(t, err)
	c := connect(options)
	s, err := New(c)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	only := c.Calls.(*goredis.Client).Conn()
	defer func() { assert.NoError(t, only.Close()) }()
	require.NoError(t, only.Ping(t.Context()).Err())

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.Error(t, s.Ping(ctx), "the connection for calls is in use")
	require.NoError(t, s.Background.Ping(t.Context()))
	_, err = s.Background.Heartbeats.Outages(t.Context(), time.Now())
	require.NoError(t, err)
	_, err = s.Games.Append(t.Context(), name("game"), entry(store.ID{}))
	require.NoError(t, err)
}
