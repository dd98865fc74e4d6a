package server_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	servertest "github.com/gridstand/gridstand/internal/testkit/server"
)

// getter returns a function that requests a path as a client with the given address behind
// a trusted proxy.
func getter(t *testing.T, server string) func(address, method, path string) (*http.Response, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	return func(address, method, path string) (*http.Response, string) {
		request, err := http.NewRequestWithContext(within(t), method, "http://"+server+path, http.NoBody)
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

// Ensure that clients at an address that requests pages, files, pictures or unknown paths too
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
		{http.MethodPost, "/gridstand.v1.GameService/Nothing", http.StatusNotFound},
		{http.MethodGet, "/gridstand.v1.GameService/Move", http.StatusMethodNotAllowed},
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
		assert.GreaterOrEqual(t, granted, 5, asked.path) // A picture counts twice, because it is also a read of its game.
		response, _ = get(busy, http.MethodGet, "/g/unknown/events")
		assert.Equal(t, http.StatusNotFound, response.StatusCode, "events have a separate rate")
		response, _ = get(other, http.MethodGet, "/")
		assert.NotEqual(t, http.StatusTooManyRequests, response.StatusCode, "the address of another client")
	}
}

// Ensure that 30 tabs opened at the same time by one household stay far below the default rate, and
// that 200 browsers of a school stay within its burst.
func TestStart_WebRateOfHousehold(t *testing.T) {
	t.Parallel()
	server, _ := servertest.Start(t, servertest.Config(t))
	get := getter(t, server.Addr().String())
	files := regexp.MustCompile(`(?:href|src)="(/assets/[^"]+)"`)
	response, page := get("", http.MethodGet, "/daily") // the page with the most files
	require.Equal(t, http.StatusOK, response.StatusCode)
	requests := 1
	for _, file := range files.FindAllStringSubmatch(page, -1) {
		response, _ = get("", http.MethodGet, file[1])
		require.Equal(t, http.StatusOK, response.StatusCode, file[1])
		requests++
	}
	assert.Greater(t, requests, 1)
	rate := servertest.Config(t).Limits.ReadsPerAddressPerSecond
	assert.Less(t, 30*requests, rate)
	assert.Less(t, 200*requests, 10*rate)
}

// Ensure that a connection on which a request was refused is closed, so that the server need not
// answer the requests that the client has already sent.
func TestStart_WebRateCloses(t *testing.T) {
	t.Parallel()
	c := servertest.Config(t)
	c.Limits.ReadsPerAddressPerSecond = 1 // the burst is ten
	server, _ := servertest.Start(t, c)
	call := func(method, kind, body string) string {
		return fmt.Sprintf("POST /gridstand.v1.GameService/%s HTTP/1.1\r\nHost: gridstand\r\nContent-Type: application/%s\r\nContent-Length: %d\r\n\r\n%s",
			method, kind, len(body), body)
	}
	for name, request := range map[string]string{
		"page":         "GET / HTTP/1.1\r\nHost: gridstand\r\n\r\n",
		"call":         call("ListVariants", "json", "{}"),
		"gRPC-Web":     call("ListVariants", "grpc-web+proto", "\x00\x00\x00\x00\x00"),
		"unknown call": call("Nothing", "grpc-web+proto", "\x00\x00\x00\x00\x00"),
	} {
		const sent = 100
		conn, err := (&net.Dialer{}).DialContext(within(t), "tcp", server.Addr().String())
		require.NoError(t, err)
		defer conn.Close()
		go func() { _, _ = io.WriteString(conn, strings.Repeat(request, sent)) }()
		answers, closing := bufio.NewReader(conn), false
		answered := 0
		for ; answered < sent && !closing; answered++ {
			response, err := http.ReadResponse(answers, nil)
			if err == nil {
				_, err = io.Copy(io.Discard, response.Body)
				require.NoError(t, response.Body.Close())
			}
			// A close resets the connection if the server has not read all requests, and may take
			// the last answer with it.
			if errors.Is(err, syscall.ECONNRESET) {
				closing = true
				break
			}
			require.NoError(t, err, name)
			closing = response.Close
		}
		assert.True(t, closing, name)
		assert.Less(t, answered, sent/2, name)
	}
}
