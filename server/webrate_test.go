package server_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// getter returns a function that requests a path as a client with the given address behind
// a trusted proxy.
func getter(t *testing.T, server string) func(address, method, path string) (*http.Response, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	return func(address, method, path string) (*http.Response, string) {
		request, err := http.NewRequestWithContext(waittest.Context(t), method, "http://"+server+path, http.NoBody)
		require.NoError(t, err)
		request.Header.Set("X-Forwarded-For", address)
		response, err := client.Do(request)
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return response, string(body)
	}
}

// Ensure that clients at an address that requests pages, files, pictures, events or unknown paths too
// often are refused with a Retry-After header, while those at other addresses behind the same
// proxy are served.
func TestStart_WebRate(t *testing.T) {
	t.Parallel()
	c := servertest.Config(t)
	c.Proxies = "127.0.0.1"
	c.Limits.ReadsPerAddressPerSecond = 1 // the burst is ten
	server, _ := servertest.Start(t, c)
	get := getter(t, server.Addr().String())
	for i, asked := range []struct {
		method, path string
		status       int
	}{
		{http.MethodGet, "/", http.StatusOK},
		{http.MethodHead, "/play", http.StatusOK},
		{http.MethodGet, "/assets/main.js", http.StatusOK},
		{http.MethodGet, "/apple-touch-icon.png", http.StatusOK},
		{http.MethodGet, "/g/unknown/picture.png", http.StatusNotFound},
		{http.MethodGet, "/nothing", http.StatusNotFound},
		{http.MethodPost, "/nothing", http.StatusNotFound},
		{http.MethodGet, "/g/a/b/events", http.StatusNotFound},
		{http.MethodGet, "/g/unknown/events", http.StatusNotFound},
		{http.MethodPost, "/gridstand.v1.GameService/Nothing", http.StatusNotFound},
		{http.MethodGet, "/gridstand.v1.GameService/GetGame", http.StatusMethodNotAllowed},
	} {
		busy, other := fmt.Sprint("192.0.2.", i), fmt.Sprint("198.51.100.", i)
		granted := 0
		var response *http.Response
		for ; granted < 100; granted++ {
			var body string
			if response, body = get(busy, asked.method, asked.path); response.StatusCode == http.StatusTooManyRequests {
				assert.Equal(t, "1", response.Header.Get("Retry-After"), asked.path)
				if asked.method != http.MethodHead {
					assert.Contains(t, body, "reads from one address a second", asked.path)
				}
				break
			}
			require.Equal(t, asked.status, response.StatusCode, asked.path)
		}
		assert.Equal(t, http.StatusTooManyRequests, response.StatusCode, asked.path)
		assert.GreaterOrEqual(t, granted, 5, asked.path) // A call that does not exist counts twice.
		response, _ = get(other, http.MethodGet, "/")
		assert.NotEqual(t, http.StatusTooManyRequests, response.StatusCode, "the address of another client")
	}
}
