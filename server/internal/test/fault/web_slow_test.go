//go:build slow

package fault

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	eventstest "github.com/gridstand/gridstand/internal/testkit/events"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// browser is an HTTP client of a server.
type browser struct {
	server *testServer
	client *http.Client
}

// browse returns a browser that connects from this machine's nth loopback address.
func browse(t *testing.T, server *testServer, n int) *browser {
	t.Helper()
	transport := &http.Transport{DialContext: dialFrom(t, n).DialContext}
	t.Cleanup(transport.CloseIdleConnections)
	return &browser{server, &http.Client{Transport: transport}}
}

// do sends a request with headers and returns the response, whose body is closed when the test
// ends.
func (b *browser) do(ctx context.Context, t *testing.T, method, path, body string, headers ...string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, method, "http://"+b.server.addr+path, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := b.client.Do(request)
	require.NoError(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// watch reads a game's events.
func (b *browser) watch(ctx context.Context, t *testing.T, gameID string) (records *eventstest.Reader, status int) {
	t.Helper()
	response := b.do(ctx, t, http.MethodGet, "/g/"+gameID+"/events", "")
	return eventstest.NewReader(response.Body), response.StatusCode
}

// Ensure that behind the shipped proxy, one port serves both gRPC and browsers; that limits
// apply to a browser's real address, no matter what address it claims to have; and that while a
// game has events, the server notices that a watcher has left and ends the watcher's stream.
func TestThroughProxy_Web(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	env := newEnv(t, redis.Addr())
	backend, g := env.serveMeasured("--proxies", "127.0.0.1", "--max-moves-per-second=0", "--max-streams-per-address=2")
	front := throughProxy(t, backend)
	player := env.player(front)
	game := player.start(t, "6x6")
	b := browse(t, front, 1)

	response := b.do(t.Context(), t, http.MethodGet, "/", "")
	assert.Equal(t, http.StatusOK, response.StatusCode)
	const call = "/gridstand.v1.GameService/GetGame"
	response = b.do(t.Context(), t, http.MethodPost, call, fmt.Sprintf(`{"gameId": %q}`, game.GetId()), "content-type", "application/json")
	assert.Equal(t, http.StatusOK, response.StatusCode)
	response = b.do(t.Context(), t, http.MethodPost, call, "\x00\x00\x00\x00\x00", "content-type", "application/grpc-web+proto")
	assert.Equal(t, "application/grpc-web+proto", response.Header.Get("Content-Type"))

	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	records, status := b.watch(ctx, t, game.GetId())
	require.Equal(t, http.StatusOK, status)
	last := player.playTo(t, game, 20)
	for seen := int32(0); seen < last.GetVersion(); {
		record, err := records.Next()
		require.NoError(t, err)
		seen = max(record.Update.GetGame().GetVersion(), record.Update.GetEvent().GetVersion())
	}
	_, status = b.watch(ctx, t, game.GetId())
	require.Equal(t, http.StatusOK, status)
	for _, claim := range []string{"", "203.0.113.7"} {
		response = b.do(ctx, t, http.MethodGet, "/g/"+game.GetId()+"/events", "", "x-forwarded-for", claim)
		assert.Equal(t, http.StatusTooManyRequests, response.StatusCode)
		assert.NotEmpty(t, response.Header.Get("Retry-After"))
	}
	other := browse(t, front, 2)
	if dialFrom(t, 2).LocalAddr != nil {
		_, status = other.watch(t.Context(), t, game.GetId())
		assert.Equal(t, http.StatusOK, status, "a stream from another address")
	}
	before := g.read(t, "gridstand_streams")
	leave()
	// The server learns that a client has left when the proxy fails to forward something to it,
	// which takes at most 15 seconds.
	waittest.Until(t, "the server has noticed that the client has left", func() bool {
		last = player.playTo(t, after(last), last.GetVersion()+1)
		return g.read(t, "gridstand_streams") <= before-2
	})
}
