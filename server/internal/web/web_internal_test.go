package web

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

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
