package web

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
)

// Ensure that a panic while serving a page or a picture is logged as an error, and that
// the client does not get a partial response.
func TestEntry_Panics(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	c := Config{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelInfo}))}
	answer := func(what any) func() {
		return func() {
			h := c.entry(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(what) }))
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/g/abc/picture.png", nil))
		}
	}
	assert.PanicsWithValue(t, http.ErrAbortHandler, answer("no board"))
	assert.Contains(t, log.String(), "level=ERROR")
	assert.Contains(t, log.String(), `call=/g/abc/picture.png panic="no board"`)

	log.Reset()
	assert.PanicsWithValue(t, http.ErrAbortHandler, answer(http.ErrAbortHandler))
	assert.Empty(t, log.String(), "a response that was aborted on purpose is not an error")
}

// Ensure that the response to a request that arrives too slowly does not name the server's own address.
func TestMessageReader_Slow(t *testing.T) {
	t.Parallel()
	slow := iotest.ErrReader(&net.OpError{Op: "read", Source: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)}, Err: os.ErrDeadlineExceeded})
	gone, cancel := context.WithCancel(t.Context())
	cancel() // as package net/http does when it cannot read on
	_, err := messageReader{io.NopCloser(slow), gone, 1}.Read(nil)
	assert.EqualError(t, err, "deadline_exceeded: the request did not arrive in time")
}
