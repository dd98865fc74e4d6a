package server_test

import (
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that the operators' pages are served only on the metrics address, that profiles are
// served only if they are enabled, and that without a metrics address, none of these pages is
// served.
func TestStart_PublicPort(t *testing.T) {
	t.Parallel()
	old := new(http.Protocols)
	old.SetHTTP1(true)
	http2 := new(http.Protocols)
	http2.SetUnencryptedHTTP2(true)
	get := func(t *testing.T, address, path string, protocols *http.Protocols, headers ...string) (int, string) {
		t.Helper()
		transport := &http.Transport{Protocols: protocols}
		response, body, err := servertest.Do(t, transport, http.MethodGet, "http://"+address+path, "", headers...)
		if err != nil {
			return 0, ""
		}
		return response.StatusCode, body
	}
	paths := []string{"/", "/metrics", "/healthz", "/readyz", "/debug/pprof/", "/debug/pprof/heap?debug=1", "/debug/pprof/cmdline", "/debug/vars"}
	for _, metrics := range []string{"", "127.0.0.1:0"} {
		t.Logf("--metrics=%s", metrics)
		c := servertest.Config(t)
		c.Metrics = metrics
		server, _ := servertest.Start(t, c)
		for _, path := range paths {
			for _, protocols := range []*http.Protocols{old, http2} {
				code, body := get(t, server.Addr().String(), path, protocols)
				if path != "/" { // The web pages are public.
					assert.NotEqual(t, http.StatusOK, code, path)
				}
				assert.NotContains(t, body, "go_goroutines")
				assert.NotContains(t, body, "goroutine profile")
			}
		}
		if metrics == "" {
			assert.Nil(t, server.MetricsAddr())
			continue
		}
		code, _ := get(t, server.MetricsAddr().String(), "/metrics", old)
		assert.Equal(t, http.StatusOK, code)
		for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/symbol"} {
			code, _ := get(t, server.MetricsAddr().String(), path, old)
			assert.Equal(t, http.StatusOK, code, path)
		}
		for _, header := range [][2]string{{"Origin", "http://localhost:3000"}, {"Sec-Fetch-Site", "cross-site"}} {
			code, _ := get(t, server.MetricsAddr().String(), "/metrics", old, header[0], header[1])
			assert.Equal(t, http.StatusForbidden, code, header)
		}
		// The command line could reveal the Redis password.
		code, body := get(t, server.MetricsAddr().String(), "/debug/pprof/cmdline", old)
		assert.Equal(t, http.StatusNotFound, code)
		assert.NotContains(t, body, os.Args[0])
		// The metrics address does not serve games.
		_, err := pb.NewGameServiceClient(servertest.Dial(t, server.MetricsAddr())).ListGames(waittest.Context(t), &pb.ListGamesRequest{})
		assert.Contains(t, []codes.Code{codes.Unavailable, codes.Unimplemented}, status.Code(err), "%v", err)
	}
}
