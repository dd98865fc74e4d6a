package web_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// decodeText decodes concatenated base64 parts, each with its own padding.
func decodeText(t *testing.T, text []byte) string {
	t.Helper()
	require.Zero(t, len(text)%4)
	var out strings.Builder
	for ; len(text) > 0; text = text[4:] {
		part, err := base64.StdEncoding.DecodeString(string(text[:4]))
		require.NoError(t, err)
		out.Write(part)
	}
	return out.String()
}

// Ensure that for base64-encoded gRPC-Web calls, responses, streams and errors are
// base64-encoded too.
func TestText(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	s := start(t)
	g, _ := s.game(t)
	frame := func(message string) string {
		return base64.StdEncoding.EncodeToString([]byte("\x00\x00\x00\x00" + string(rune(len(message))) + message))
	}
	const kind = "application/grpc-web-text+json"
	response, body := s.do(t, "POST", "/gridstand.v1.GameService/GetServerInfo", frame("{}"), "Content-Type", kind)
	assert.Equal(t, kind, response.Header.Get("Content-Type"))
	assert.Contains(t, decodeText(t, body), `"gridstand"`)
	assert.Contains(t, decodeText(t, body), "grpc-status: 0\r\n")

	watch := fmt.Sprintf(`{"gameId":%q}`, g.GetId())
	response, body = s.watchUntil(t, "Grpc-Timeout: %dS", frame(watch), strings.TrimPrefix(kind, "application/"))
	assert.Equal(t, kind, response.Header.Get("Content-Type"))
	assert.Contains(t, decodeText(t, body), `"game":`)
	assert.Contains(t, decodeText(t, body), "grpc-status: 4\r\n")

	response, _ = s.do(t, "POST", "/gridstand.v1.GameService/GetGame", frame(`{"gameId":"x"}`), "Content-Type", kind)
	assert.Equal(t, 200, response.StatusCode)
	assert.Equal(t, "5", response.Header.Get("Grpc-Status"))
	response, _ = s.do(t, "POST", "/gridstand.v1.GameService/GetGame", "***", "Content-Type", kind)
	assert.NotEqual(t, "0", response.Header.Get("Grpc-Status"))
	assert.NotEmpty(t, response.Header.Get("Grpc-Status"))
	response, _ = s.do(t, "POST", "/gridstand.v1.GameService/Cheat", frame("{}"), "Content-Type", kind)
	assert.Equal(t, "12", response.Header.Get("Grpc-Status"))
}
