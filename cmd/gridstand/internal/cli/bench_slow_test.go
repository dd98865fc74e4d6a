//go:build slow

package cli

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/load"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
)

// TestBench runs bench with a small load.
func TestBench(t *testing.T) {
	t.Parallel()
	config := servertest.Config(t)
	config.Metrics = "127.0.0.1:0"
	server, _ := servertest.Start(t, config)
	ada := newUser(t, server.Addr().String(), "ada")
	short := []string{"bench", "--games", "2", "--watchers", "3", "--rate", "100", "--duration", "1s"}

	out := ada.ok(append(short, "--metrics", "http://"+server.MetricsAddr().String()+"/metrics")...)
	for _, want := range []string{
		`, version .*, storage memory\n6x6: 2 games, 2 players, 6 watchers, 2 connections, `, `moves +\d+ +\d+ +\d+\.\d\d +\d+\.\d\d`,
		`watchers +0 +6 +6\n`, `No gaps, repeats or losses: 6 watchers\.\n`, `2 accounts named bench-[a-z2-7]{8}-… remain on the server\.\n`,
	} {
		assert.Regexp(t, want, out)
	}
	var r load.Report
	require.NoError(t, json.Unmarshal([]byte(ada.ok(append(short, "--json")...)), &r))
	assert.Positive(t, r.Moves)
	assert.Positive(t, r.Delivery.P99)
	assert.Nil(t, r.Metrics)
	ada.fails(exitMissing, "no account", "whoami")

	ada.fails(exitUsage, "number of games", "bench", "--games", "0")
	ada.fails(exitUsage, "no variant", "bench", "--variant", "chess")
	ada.fails(exitFailed, "--max-open-games 600", "bench", "--games", "600", "--players", "1")
}
