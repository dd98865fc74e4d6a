package server_test

import (
	"bytes"
	"io"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/limits"
)

// Ensure that clients at an address that requests pages, pictures or events too often are refused with a
// Retry-After header, while those at other addresses behind the same proxy are served.
func TestStart_WebRate(t *testing.T) {
	t.Parallel()
	c := servertest.Config(t)
	c.Proxies = "127.0.0.1"
	c.Limits[limits.ReadsPerAddressPerSecond] = 1 // the burst is ten
	server, _ := servertest.Start(t, c)
	get := func(address, path string) (*http.Response, string) {
		return servertest.Get(t, "http://"+server.Addr().String()+path, "X-Forwarded-For", address)
	}
	for busy, path := range map[string]string{"192.0.2.1": "/", "192.0.2.2": "/g/unknown/picture.png", "192.0.2.3": "/g/unknown/events"} {
		response, body := get(busy, path)
		for n := 0; n < 100 && response.StatusCode != http.StatusTooManyRequests; n++ {
			response, body = get(busy, path)
		}
		assert.Equal(t, http.StatusTooManyRequests, response.StatusCode, path)
		assert.Equal(t, "1", response.Header.Get("Retry-After"), path)
		assert.Contains(t, body, "reads from one address a second", path)
	}
	response, _ := get("198.51.100.1", "/")
	assert.Equal(t, http.StatusOK, response.StatusCode, "the address of another client")
}

// lineBreaks is a body of line breaks, whose number it contains.
type lineBreaks struct{ left atomic.Int64 }

func (l *lineBreaks) Read(p []byte) (int, error) {
	n := min(len(p), int(l.left.Load()))
	if n == 0 {
		return 0, io.EOF
	}
	l.left.Add(int64(-n))
	return copy(p, bytes.Repeat([]byte("\n"), n)), nil
}

// Ensure that the server does not read a body to its end that is larger than any message.
func TestStart_WebBody(t *testing.T) {
	t.Parallel()
	server, _ := servertest.Start(t, servertest.Config(t))
	body := &lineBreaks{}
	body.left.Store(64 << 20)
	request, err := http.NewRequestWithContext(waittest.Context(t), http.MethodPost,
		"http://"+server.Addr().String()+pb.GameService_ListVariants_FullMethodName, body)
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := (&http.Client{Transport: &http.Transport{}}).Do(request)
	if err == nil { // otherwise the connection was closed before the client had read the answer
		require.NoError(t, response.Body.Close())
	}
	assert.Positive(t, body.left.Load())
}
