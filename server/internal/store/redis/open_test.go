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

// Ensure that the start waits while Redis is loading its data, or is silent, but not if it is
// unreachable or refuses commands, and that the error does not contain the password.
func TestOpen_Waits(t *testing.T) {
	t.Parallel()
	silent := process.Listen(t)
	secured, loading := redistest.StartMiniredis(t), redistest.StartMiniredis(t)
	secured.RequireAuth("open sesame")
	loading.SetError("LOADING Redis is loading the dataset in memory")
	for _, c := range []struct {
		url, want string // the URL without its scheme, and the error
		busy      bool
	}{
		{":sesame@127.0.0.1:1", "redis://127.0.0.1:1/0 does not answer: dial tcp 127.0.0.1:1: connect: connection refused", false},
		{":sesame@" + secured.Addr(), "refuses commands: WRONGPASS", false},
		{":sesame@" + silent.Addr().String() + "?read_timeout=50ms", "does not answer: context canceled", true},
		{loading.Addr(), "", true},
	} {
		options, err := parseURL("redis://" + c.url)
		require.NoError(t, err)
		clients := connect(options)
		ctx, cancel := context.WithCancel(t.Context())
		log := &waiting{stop: cancel}
		if c.want == "" {
			log.stop = func() { loading.SetError("") }
		}
		clients.Logger = slog.New(slog.NewTextHandler(log, nil))
		err = clients.waitReady(ctx, 0, testPatience)
		cancel()
		assert.Equal(t, c.busy, strings.Contains(log.String(), "redis is busy"), log.String())
		if c.want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "sesame")
		}
		require.NoError(t, clients.close())
	}
}

// Ensure that the start waits while a Redis Cluster is down, although its nodes answer a ping, and that the
// store does not answer if the cluster is down later.
func TestOpen_ClusterDown(t *testing.T) {
	t.Parallel()
	server := redistest.StartRedis(t, "--cluster-enabled", "yes")
	options, err := parseURL(server.URL() + "?cluster=true")
	require.NoError(t, err)
	clients, client := connect(options), redistest.NewClient(t, server.Addr())
	log := &waiting{stop: func() { assert.NoError(t, client.ClusterAddSlotsRange(t.Context(), 0, 16383).Err()) }}
	clients.Logger = slog.New(slog.NewTextHandler(log, nil))
	require.NoError(t, clients.waitReady(t.Context(), 0, testPatience))
	assert.Contains(t, log.String(), "CLUSTERDOWN")
	require.NoError(t, checkComplete(t.Context(), clients))
	require.NoError(t, clients.close())

	s := openAt(t, server.Addr())
	require.NoError(t, s.Ping(t.Context()))
	require.NoError(t, client.Do(t.Context(), "cluster", "flushslots").Err())
	assert.ErrorContains(t, s.Ping(t.Context()), "CLUSTERDOWN")
}

// Ensure that the error says so if TLS is used for a Redis that may not speak it, or the reverse.
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
		options, err := parseURL(url)
		require.NoError(t, err)
		clients := connect(options)
		err = clients.waitReady(t.Context(), 0, testPatience)
		require.ErrorContains(t, err, " does not answer: ")
		assert.True(t, strings.HasSuffix(err.Error(), want), err)
		require.NoError(t, clients.close())
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
	options, err := parseURL(redistest.StartRedis(t).URL() + "?pool_size=1")
	require.NoError(t, err)
	c, log := connect(options), &bytes.Buffer{}
	c.Logger = slog.New(slog.NewTextHandler(log, nil))
	s, err := New(c)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	only := c.Calls.(*goredis.Client).Conn()
	defer func() { assert.NoError(t, only.Close()) }()
	require.NoError(t, only.Ping(t.Context()).Err())

	require.Zero(t, c.Calls.PoolStats().IdleConns, "the connection for calls is in use")
	require.NoError(t, s.Background.Ping(t.Context()))
	require.NoError(t, c.check(t.Context(), testPatience))
	assert.Contains(t, log.String(), "id=redis-can-lose")
	_, err = s.Background.Heartbeats.Servers(t.Context())
	require.NoError(t, err)
	_, err = s.Games.Append(t.Context(), name("game"), entry(store.ID{}))
	require.NoError(t, err)
}
