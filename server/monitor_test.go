package server_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that a running server exports every metric that the alerts and the dashboard use.
func TestMonitor(t *testing.T) {
	t.Parallel()
	config := servertest.Config(t)
	config.Metrics = "127.0.0.1:0"
	server, _ := servertest.Start(t, config)
	conn := servertest.Dial(t, server.Addr())
	p := playertest.New(t.Context(), t, conn, "Ada")
	p.Move(t, p.Create(t, &pb.CreateGameRequest{Variant: "classic"}))
	_, err := p.Games.GetGame(playertest.WithToken(t.Context(), "wrong"), &pb.GetGameRequest{GameId: "none"})
	require.Error(t, err, "for the metrics of refusals")

	response, err := http.Get("http://" + server.MetricsAddr().String() + "/metrics")
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	metrics, err := io.ReadAll(response.Body)
	require.NoError(t, err)

	names := regexp.MustCompile(`\b(gridstand|grpc_server|process)_[a-z_]+`)
	for _, file := range []string{"alerts.yml", "gridstand.json"} {
		text, err := os.ReadFile(filepath.Join("..", "deploy", "monitor", file))
		require.NoError(t, err)
		found := names.FindAllString(string(text), -1)
		assert.NotEmpty(t, found, file)
		for _, name := range found {
			assert.Regexp(t, `(?m)^`+name+`[{ ]`, string(metrics), "%s names %s", file, name)
		}
	}
}
