package server_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	"github.com/gridstand/gridstand/internal/testkit/process"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	"github.com/gridstand/gridstand/internal/testkit/testmain"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

func TestMain(m *testing.M) { testmain.Run(m, redistest.StillDialing) }

// Ensure that a server can be stopped while it waits for Redis.
func TestRun_Stopped(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	redis := process.Listen(t)
	go func() {
		if conn, err := redis.Accept(); err == nil {
			stop() // before an answer
			_ = conn.Close()
		}
	}()
	c := servertest.Config(t)
	c.Store = "redis://" + redis.Addr().String()
	assert.NoError(t, server.Run(ctx, c))
}

// Ensure that a server ends with an error if its listener breaks.
func TestRun_ListenerBreaks(t *testing.T) {
	t.Parallel()
	c := servertest.Config(t)
	c.Listener = process.Listen(t)
	require.NoError(t, c.Listener.Close())
	assert.ErrorContains(t, server.Run(waittest.Context(t), c), "use of closed network connection")
}

func TestStart_Metrics(t *testing.T) {
	t.Parallel()
	c := servertest.Config(t)
	c.Metrics = "127.0.0.1:0"
	server, stop := servertest.Start(t, c)
	ann := playertest.New(waittest.Context(t), t, servertest.Dial(t, server.Addr()), "Ann")
	g := ann.Create(t, &pb.CreateGameRequest{Variant: "classic"})
	watched, leave := context.WithCancel(ann.Ctx)
	stream, err := ann.Games.Watch(watched, &pb.WatchRequest{GameId: g.GetId(), AfterVersion: &g.Version})
	require.NoError(t, err)
	_, err = stream.Header()
	require.NoError(t, err)
	ann.Move(t, g)

	_, err = ann.Games.GetGame(playertest.WithToken(waittest.Context(t), "wrong"), &pb.GetGameRequest{GameId: "none"})
	require.Error(t, err, "for the metrics of refusals")

	url := "http://" + server.MetricsAddr().String() + "/metrics"
	metrics := func() string {
		response, body := servertest.Get(t, url)
		require.Equal(t, http.StatusOK, response.StatusCode)
		return body
	}
	var body string
	waittest.Until(t, "the store has been checked", func() bool {
		body = metrics()
		return strings.Contains(body, "\ngridstand_redis_up 1\n")
	})
	// The alerts and the dashboard use only metrics that the server exports.
	names := regexp.MustCompile(`\b(gridstand|grpc_server|process)_[a-z_]+`)
	for _, file := range []string{"alerts.yml", "gridstand.json"} {
		text, err := os.ReadFile(filepath.Join("..", "deploy", "monitor", file))
		require.NoError(t, err)
		found := names.FindAllString(string(text), -1)
		assert.NotEmpty(t, found, file)
		for _, name := range found {
			assert.True(t, strings.Contains(body, "\n"+name+"{") || strings.Contains(body, "\n"+name+" "), "%s names %s", file, name)
		}
	}
	for _, line := range []string{
		`gridstand_games_live 1`,
		`gridstand_watchers 0`,
		`grpc_server_handled_total{grpc_code="OK",grpc_method="Move",grpc_service="gridstand.v1.GameService",grpc_type="unary"} 1`,
		`grpc_server_handling_seconds_count{grpc_method="Move",grpc_service="gridstand.v1.GameService",grpc_type="unary"} 1`,
		`gridstand_events_delivered_total 1`,
	} {
		assert.Contains(t, body, "\n"+line+"\n")
	}
	assert.NotContains(t, body, "grpc_server_msg_", "single messages of streams are not counted")
	for _, name := range []string{
		"gridstand_build_info{", "gridstand_fan_out_lag_seconds_bucket{", "gridstand_conflations_total ",
		"gridstand_file_log_bytes ", "go_goroutines ", "process_open_fds ",
	} {
		assert.Contains(t, body, "\n"+name)
	}
	leave()
	waittest.Until(t, "the stream is counted", func() bool {
		return strings.Contains(metrics(),
			`grpc_server_handled_total{grpc_code="Canceled",grpc_method="Watch",grpc_service="gridstand.v1.GameService",grpc_type="server_stream"} 1`)
	})
	stop()
	_, _, err = servertest.Do(t, &http.Transport{}, http.MethodGet, url, "")
	assert.Error(t, err)
}

// Ensure that an event counts once for a reader of Server-Sent Events, although the goroutine that writes to
// all readers of the game watches it, too.
func TestStart_Deliveries(t *testing.T) {
	t.Parallel()
	c := servertest.Config(t)
	c.Metrics = "127.0.0.1:0"
	server, _ := servertest.Start(t, c)
	ann := playertest.New(waittest.Context(t), t, servertest.Dial(t, server.Addr()), "Ann")
	g := ann.Create(t, &pb.CreateGameRequest{Variant: "classic"})
	events := "http://" + server.Addr().String() + "/g/" + g.GetId() + "/events?after_version=1"
	request, err := http.NewRequestWithContext(ann.Ctx, http.MethodGet, events, nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	lines := bufio.NewScanner(response.Body)
	for version := g.GetVersion() + 1; version <= 4; version++ {
		ann.Move(t, g)
		for lines.Text() != fmt.Sprint("id: ", version) {
			require.True(t, lines.Scan())
		}
	}
	_, metrics := servertest.Get(t, "http://"+server.MetricsAddr().String()+"/metrics")
	_, count, _ := strings.Cut(metrics, "\ngridstand_events_delivered_total ")
	count, _, _ = strings.Cut(count, "\n")
	assert.Equal(t, "3", count)
}
