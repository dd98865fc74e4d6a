package redis

import (
	"bytes"
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/process"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/server/internal/store"
)

// open opens the store at a Redis URL until the test ends, and returns the log output.
func open(ctx context.Context, t *testing.T, url string) (log string, err error) {
	t.Helper()
	var text bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s, err := Open(ctx, url, Options{Wait: testPatience, Logger: logger})
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

// deadline is a context whose deadline passes when over is closed.
type deadline struct {
	context.Context
	over chan struct{}
}

func (d deadline) Done() <-chan struct{} { return d.over }

func (d deadline) Err() error {
	select {
	case <-d.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// waitAt waits for the Redis at a URL until something is logged, and returns the log and the error.
func waitAt(t *testing.T, url string) (log string, err error) {
	t.Helper()
	options, err := parseURL(url)
	require.NoError(t, err)
	clients, ctx := connect(options), deadline{t.Context(), make(chan struct{})}
	text := &waiting{stop: func() { close(ctx.over) }}
	clients.Logger = slog.New(slog.NewTextHandler(text, nil))
	err = clients.waitReady(ctx, testPatience)
	require.NoError(t, clients.close())
	return text.String(), err
}

// Ensure that the start waits, and logs what for, while Redis is unreachable or silent, but not if it
// refuses commands, and that neither the log nor the error contains the password.
func TestOpen_Waits(t *testing.T) {
	t.Parallel()
	silent, secured := process.Listen(t), redistest.StartMiniredis(t)
	secured.RequireAuth("open sesame")
	for addr, want := range map[string]struct {
		err   string
		waits bool
	}{
		"127.0.0.1:1": {"redis://127.0.0.1:1/0 does not answer: dial tcp 127.0.0.1:1: connect: connection refused", true},
		silent.Addr().String() + "?read_timeout=50ms": {"i/o timeout", true},
		secured.Addr(): {"refuses commands: WRONGPASS", false},
	} {
		log, err := waitAt(t, "redis://:sesame@"+addr)
		require.ErrorContains(t, err, want.err)
		assert.Equal(t, want.waits, strings.Contains(log, "waiting for redis") && strings.Contains(log, want.err), log)
		assert.NotContains(t, err.Error()+log, "sesame")
	}
}

// waits waits for the Redis at a URL, which is ready once mend has been called. It calls mend when something is
// logged, and returns the clients and the log.
func waits(t *testing.T, url string, mend func()) (clients Clients, log string) {
	t.Helper()
	options, err := parseURL(url)
	require.NoError(t, err)
	clients = connect(options)
	t.Cleanup(func() { assert.NoError(t, clients.close()) })
	text := &waiting{stop: mend}
	clients.Logger = slog.New(slog.NewTextHandler(text, nil))
	require.NoError(t, clients.waitReady(t.Context(), testPatience))
	return clients, text.String()
}

// Ensure that the start waits while Redis is loading its data.
func TestOpen_Loading(t *testing.T) {
	t.Parallel()
	loading := redistest.StartMiniredis(t)
	loading.SetError("LOADING Redis is loading the dataset in memory")
	_, log := waits(t, "redis://"+loading.Addr(), func() { loading.SetError("") })
	assert.Contains(t, log, "is not ready: LOADING")
}

// Ensure that the start waits while a Redis Cluster is down, although its nodes answer a ping, and that the
// store does not answer if the cluster is down later.
func TestOpen_ClusterDown(t *testing.T) {
	t.Parallel()
	server := redistest.StartRedis(t, "--cluster-enabled", "yes")
	client := redistest.NewClient(t, server.Addr())
	clients, log := waits(t, server.URL()+"?cluster=true", func() {
		assert.NoError(t, client.ClusterAddSlotsRange(t.Context(), 0, 16383).Err())
	})
	assert.Contains(t, log, "CLUSTERDOWN")
	require.NoError(t, checkComplete(t.Context(), clients))

	s := openAt(t, server.Addr())
	_, err := s.Queue.Scheduled(t.Context(), "")
	require.NoError(t, err)
	require.NoError(t, client.Do(t.Context(), "cluster", "flushslots").Err())
	_, err = s.Queue.Scheduled(t.Context(), "")
	assert.ErrorContains(t, err, "CLUSTERDOWN")
}

// Ensure that the log and the error say so if TLS is used for a Redis that may not speak it, or the reverse.
func TestOpen_OtherScheme(t *testing.T) {
	t.Parallel()
	plain := redistest.StartRedis(t)
	encrypted := httptest.NewTLSServer(nil)
	defer encrypted.Close()
	for url, want := range map[string]string{
		"rediss://" + plain.Addr():                      "; if it does not use TLS, its URL must begin with redis://",
		"redis://" + encrypted.Listener.Addr().String(): "; if it uses TLS, its URL must begin with rediss://",
		"rediss://127.0.0.1:1":                          "connection refused",
	} {
		log, err := waitAt(t, url)
		require.ErrorContains(t, err, " does not answer: ")
		assert.True(t, strings.HasSuffix(err.Error(), want), err)
		assert.Contains(t, log, want)
	}
}

// Ensure that a warning names each setting with which Redis may lose acknowledged moves or keys.
func TestOpen_Checks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ args, want []string }{
		{[]string{"--appendonly", "yes", "--appendfsync", "always"}, nil},
		{
			[]string{"--appendonly", "yes", "--maxmemory-policy", "allkeys-lru"},
			[]string{"setting=appendfsync", "setting=maxmemory-policy"},
		},
		{
			[]string{"--rename-command", "CONFIG", "", "--maxmemory-policy", "allkeys-lru"},
			[]string{"setting=appendonly", "setting=maxmemory-policy"},
		},
	} {
		log, err := open(t.Context(), t, redistest.StartRedis(t, tt.args...).URL())
		require.NoError(t, err)
		assert.Equal(t, len(tt.want), strings.Count(log, "\n"), log)
		for _, want := range tt.want {
			assert.Contains(t, log, want)
		}
	}
}

func TestCheckVersion(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"7.0.0": "", "8.2.1": "", "6.2.14": "redis at r:1 is version 6.2.14; it must be 7.0 or newer", "": "",
	} {
		err := checkVersion("r:1", version)
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
		assert.Equal(t, want, c.Name)
		require.NoError(t, c.close())
	}
}

// Ensure that appends and the commands of the heartbeat, the jobs and health checks do not
// wait for a connection while client calls use all of theirs.
func TestConnect_SeparateConnections(t *testing.T) {
	t.Parallel()
	options, err := parseURL(redistest.StartRedis(t).URL())
	require.NoError(t, err)
	options.PoolSize = 1
	c, log := connect(options), &bytes.Buffer{}
	c.Logger = slog.New(slog.NewTextHandler(log, nil))
	s, err := New(c)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	only := c.Calls.(*goredis.Client).Conn()
	defer func() { assert.NoError(t, only.Close()) }()
	require.NoError(t, only.Ping(t.Context()).Err())

	require.Zero(t, c.Calls.PoolStats().IdleConns, "the connection for calls is in use")
	_, err = s.Background.Queue.Scheduled(t.Context(), "")
	require.NoError(t, err)
	require.NoError(t, c.check(t.Context(), testPatience))
	assert.Contains(t, log.String(), "id=redis-can-lose")
	_, err = s.Background.Heartbeats.Servers(t.Context())
	require.NoError(t, err)
	_, err = s.Games.Append(t.Context(), name("game"), entry(store.ID{}))
	require.NoError(t, err)
}
