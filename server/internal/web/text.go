package web

import (
	"bytes"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
)

// textPrefix is the prefix of the content types of base64-encoded gRPC-Web, which Google's
// browser client uses for streams. Package connect supports only the binary format.
const textPrefix = "application/grpc-web-text"

// serveText serves a call in base64-encoded gRPC-Web with a handler for the binary format. kind is the
// request's content type.
func serveText(w http.ResponseWriter, r *http.Request, kind string, next http.Handler) {
	r.Header.Set("Content-Type", strings.Replace(kind, "-text", "", 1))
	r.Body = io.NopCloser(base64.NewDecoder(base64.StdEncoding, r.Body)) // Package net/http closes the body itself.
	text := &textWriter{ResponseWriter: w, kind: kind}
	next.ServeHTTP(text, r)
	text.Flush()
}

// textWriter encodes data in base64. The data between two flushes becomes one part, with
// its own padding.
type textWriter struct {
	http.ResponseWriter
	kind    string
	begun   bool
	pending bytes.Buffer
}

// WriteHeader implements http.ResponseWriter.
func (t *textWriter) WriteHeader(status int) {
	if !t.begun && strings.HasPrefix(t.Header().Get("Content-Type"), "application/grpc-web") {
		t.Header().Set("Content-Type", t.kind)
	}
	t.begun = true
	t.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (t *textWriter) Write(p []byte) (int, error) { return t.pending.Write(p) }

// Flush implements http.Flusher. If writing fails, package net/http cancels the request's context.
func (t *textWriter) Flush() {
	if !t.begun {
		t.WriteHeader(http.StatusOK)
	}
	if t.pending.Len() > 0 {
		_, _ = io.WriteString(t.ResponseWriter, base64.StdEncoding.EncodeToString(t.pending.Bytes()))
		t.pending.Reset()
	}
	_ = http.NewResponseController(t.ResponseWriter).Flush()
}
