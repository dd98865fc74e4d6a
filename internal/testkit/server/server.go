// Package servertest starts complete servers for tests, with the program's interceptors, startup
// and shutdown. Only tests import it.
package servertest

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/gridstand/gridstand/client"
	outputtest "github.com/gridstand/gridstand/internal/testkit/output"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/server"
)

// Config returns the default configuration, adapted for tests: the server keeps games in
// memory, listens on a free local port, logs to the test's output and stops without a long
// wait.
func Config(t testing.TB) server.Config {
	t.Helper()
	c := server.DefaultConfig()
	c.Store = server.Memory
	c.Listen = "127.0.0.1:0"
	c.StopTimeout = 2 * time.Second
	c.Exhibition = false // no games other than those that the test creates
	c.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	return c
}

// Log is an in-memory log. It is safe for concurrent use.
type Log struct{ outputtest.Buffer }

// Logger returns a logger that writes all levels to the log.
func (l *Log) Logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Start starts a server that is stopped when the test ends. The returned function stops it earlier
// and waits until it has stopped. The test fails if the server fails.
func Start(t testing.TB, c server.Config) (*server.Server, func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	server, err := server.Start(ctx, c)
	require.NoError(t, err, "starting a server")
	stop := func() {
		cancel()
		assert.NoError(t, server.Wait(), "a server failed")
	}
	t.Cleanup(stop)
	return server, stop
}

// Get requests a page on a connection of its own, with pairs of a header's name and its value, and
// returns the answer and its body.
func Get(t testing.TB, url string, headers ...string) (*http.Response, string) {
	t.Helper()
	response, body, err := Do(t, &http.Transport{}, http.MethodGet, url, "", headers...)
	require.NoError(t, err)
	return response, body
}

// Do is like Get but sends any request, through a transport that is used for nothing else.
func Do(
	t testing.TB, transport *http.Transport, method, url, body string, headers ...string,
) (*http.Response, string, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(waittest.Context(t), method, url, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	request.Close, request.Host = true, request.Header.Get("Host")
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return nil, "", err
	}
	answer, err := io.ReadAll(response.Body)
	return response, string(answer), errors.Join(err, response.Body.Close())
}

// Client returns a client, which is closed when the test ends.
func Client(t testing.TB, config client.Config) *client.Client {
	t.Helper()
	c, err := client.Dial(config)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Dial connects to a server without TLS. The connection is closed when the test ends.
func Dial(t testing.TB, addr net.Addr, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	options = append([]grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}, options...)
	conn, err := grpc.NewClient("passthrough:///"+addr.String(), options...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// Clock is a store's clock, which a test can move forward and stop.
type Clock struct {
	ahead, stopped atomic.Int64 // in nanoseconds; stopped is the time of the last Stop, or 0 after Resume
}

// ClockAt returns a clock that starts at the given hour of the next day in UTC.
func ClockAt(hour int) *Clock {
	clock := &Clock{}
	clock.PassTo(time.Now().UTC().Truncate(24 * time.Hour).Add(time.Duration(24+hour) * time.Hour))
	return clock
}

// Now returns the clock's time, for Config.StoreNow.
func (c *Clock) Now() time.Time {
	from := cmp.Or(c.stopped.Load(), time.Now().UnixNano())
	return time.Unix(0, from+c.ahead.Load())
}

// Stop makes the clock stand still until Resume, except when the test moves it forward.
func (c *Clock) Stop() { c.stopped.Store(time.Now().UnixNano()) }

// Resume makes the clock run again, from the time at which it stands.
func (c *Clock) Resume() {
	c.Pass(time.Until(time.Unix(0, c.stopped.Load())))
	c.stopped.Store(0)
}

// Pass moves the clock forward.
func (c *Clock) Pass(d time.Duration) { c.ahead.Add(int64(d)) }

// PassTo moves the clock forward to the given time.
func (c *Clock) PassTo(at time.Time) { c.Pass(at.Sub(c.Now())) }
