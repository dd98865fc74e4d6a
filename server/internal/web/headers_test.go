package web_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Ensure that the first line and the headers of a request may have 16 kB, and that the server
// refuses a request without reading more of it.
func TestHeaders_Size(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	const most = 16 << 10
	const begin, end = "GET /apple-touch-icon.png HTTP/1.1\r\nHost: a\r\nA: ", "\r\n\r\n"
	s := start(t)
	for last, want := range map[string]int{
		end:    http.StatusOK,
		"aaaa": http.StatusRequestHeaderFieldsTooLarge, // The end of the headers would follow.
	} {
		conn, err := net.Dial("tcp", s.addr.String())
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
		_, err = io.WriteString(conn, begin+strings.Repeat("a", most-len(begin)-len(last))+last)
		require.NoError(t, err)
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		assert.Equal(t, want, response.StatusCode)
		require.NoError(t, response.Body.Close())
	}
}
