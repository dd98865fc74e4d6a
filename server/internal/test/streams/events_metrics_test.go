package streams

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	servertest "github.com/gridstand/gridstand/internal/testkit/server"
)

// Ensure that the metrics count a reader like a gRPC watcher: once when it joins, and once, with
// the reason, when it leaves or the game ends.
func TestEvents_Metrics(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits two seconds until the server notices that a reader has left")
	}
	c := config(t)
	c.Metrics = "127.0.0.1:0"
	srv, _ := servertest.Start(t, c)
	p := newPlayer(t, srv.Addr(), classic)
	counts := func(started, ok, canceled, notFound int) {
		t.Helper()
		want := []string{fmt.Sprintf("\ngrpc_server_started_total{grpc_method=%q,grpc_service=%q,grpc_type=%q} %d\n",
			"Watch", "gridstand.v1.GameService", "server_stream", started)}
		for code, n := range map[string]int{"OK": ok, "Canceled": canceled, "NotFound": notFound} {
			want = append(want, fmt.Sprintf("\ngrpc_server_handled_total{grpc_code=%q,grpc_method=%q,grpc_service=%q,grpc_type=%q} %d\n",
				code, "Watch", "gridstand.v1.GameService", "server_stream", n))
		}
		require.Eventually(t, func() bool {
			response, err := http.Get("http://" + srv.MetricsAddr().String() + "/metrics")
			require.NoError(t, err)
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			for _, line := range want {
				if !strings.Contains(string(body), line) {
					return false
				}
			}
			return true
		}, patience, 10*time.Millisecond, "%v", want)
	}
	counts(0, 0, 0, 0)
	leaver, stayer := read(t, srv.Addr(), p.path()), read(t, srv.Addr(), p.path())
	leaver.Must(t)
	stayer.Must(t)
	counts(2, 0, 0, 0)
	require.NoError(t, leaver.conn.Close())
	counts(2, 0, 1, 0)
	p.Resign(t, p.game)
	stayer.rest(t)
	counts(2, 1, 1, 0)
	read(t, srv.Addr(), "/g/unknown/events")
	counts(3, 1, 1, 1)
}
