//go:build slow

package fault

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// Ensure that behind the shipped proxy, one port serves both gRPC and browsers; that limits
// apply to a browser's real address, no matter what address it claims to have; and that while a
// game has events, the server notices that a watcher has left and ends the watcher's stream.
func TestThroughProxy_Web(t *testing.T) {
	t.Parallel()
	env := newRedisEnv(t)
	backend, g := env.serveMeasured("--proxies", "127.0.0.1", "--max-moves-per-second=0", "--max-streams-per-address=2")
	front := throughProxy(t, backend)
	player := env.player(front)
	game := player.start(t, "6x6")
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	// send sends a request from this machine's nth loopback address. The body of the response is closed
	// when ctx is done.
	send := func(n int, path, body string, headers ...string) *http.Response {
		method := http.MethodGet
		if body != "" {
			method = http.MethodPost
		}
		request, err := http.NewRequestWithContext(ctx, method, "http://"+front.addr+path, strings.NewReader(body))
		require.NoError(t, err)
		for i := 0; i < len(headers); i += 2 {
			request.Header.Set(headers[i], headers[i+1])
		}
		transport := &http.Transport{DialContext: dialFrom(t, n).DialContext}
		t.Cleanup(transport.CloseIdleConnections)
		response, err := transport.RoundTrip(request)
		require.NoError(t, err)
		t.Cleanup(func() { _ = response.Body.Close() })
		return response
	}
	events := "/g/" + game.GetId() + "/events"
	const call = "/gridstand.v1.GameService/GetGame"
	assert.Equal(t, http.StatusOK, send(1, "/", "").StatusCode)
	assert.Equal(t, http.StatusOK, send(1, call, fmt.Sprintf(`{"gameId": %q}`, game.GetId()), "content-type", "application/json").StatusCode)
	overWeb := send(1, call, "\x00\x00\x00\x00\x00", "content-type", "application/grpc-web+proto")
	assert.Equal(t, "application/grpc-web+proto", overWeb.Header.Get("Content-Type"))

	watching := send(1, events, "")
	require.Equal(t, http.StatusOK, watching.StatusCode)
	player.playTo(t, game, 20)
	for lines := bufio.NewReader(watching.Body); ; {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		if line == "id: 20\n" { // the version
			break
		}
	}
	require.Equal(t, http.StatusOK, send(1, events, "").StatusCode)
	for _, claim := range []string{"", "203.0.113.7"} {
		response := send(1, events, "", "x-forwarded-for", claim)
		assert.Equal(t, http.StatusTooManyRequests, response.StatusCode)
		assert.NotEmpty(t, response.Header.Get("Retry-After"))
	}
	if dialFrom(t, 2).LocalAddr != nil {
		assert.Equal(t, http.StatusOK, send(2, events, "").StatusCode, "a stream from another address")
	}
	leave()
	// The server learns that a client has left when the proxy fails to forward something to it,
	// which takes at most 15 seconds.
	waittest.Until(t, "the server has noticed that the clients have left", func() bool {
		player.playTo(t, game, game.GetVersion()+1)
		return g.read(t, "gridstand_streams") == 0
	})
}
