package web

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Ensure that a panic of a page or a picture is logged as an error, and that the client
// gets no half of an answer.
func TestWithPanics(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	c := Config{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelInfo}))}
	answer := func(what any) func() {
		return func() {
			h := c.withPanics(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(what) }))
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/g/abc/picture.png", nil))
		}
	}
	assert.PanicsWithValue(t, http.ErrAbortHandler, answer("no board"))
	assert.Contains(t, log.String(), "level=ERROR")
	assert.Contains(t, log.String(), `call=/g/abc/picture.png panic="no board"`)

	log.Reset()
	assert.PanicsWithValue(t, http.ErrAbortHandler, answer(http.ErrAbortHandler))
	assert.Empty(t, log.String(), "an answer that was cut off on purpose is no error")
}
