//go:build slow

package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that an interrupted load ends its games, and that the watchers saw every event.
func TestRun(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{overGRPC, overSSE} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			r, server, ended := start(t, t.Context(), protocol)
			require.NoError(t, <-ended)

			require.NoError(t, r.fault())
			assert.Equal(t, 2*(r.moves.Load()+r.resigned.Load()), r.events.Load()+r.skipped.Load(), "each of two watchers")
			requireOpen(t, r, server, false)
			var report strings.Builder
			r.printReport(&report)
			assert.Regexp(t, `moves +\d.*\n +events to watchers +\d`, report.String())
			assert.Contains(t, report.String(), "\nStore: memory.")
			assert.Contains(t, report.String(), "No gaps, repeats or losses.\nThe load was interrupted.\n")
			assert.Contains(t, report.String(), ", 0 still open.")
		})
	}
}

// Ensure that a load that may not end its games lists them.
func TestRun_Left(t *testing.T) {
	t.Parallel()
	ending, cancel := context.WithCancel(t.Context())
	r, server, ended := start(t, ending, overGRPC)
	cancel()
	require.NoError(t, <-ended)

	require.ErrorContains(t, r.fault(), "6 games are still open")
	requireOpen(t, r, server, true)
	var left strings.Builder
	r.printLeft(&left)
	assert.Contains(t, left.String(), ", 6 still open.")
	for _, p := range r.players {
		assert.Contains(t, left.String(), "still open: "+p.places[0].game.id)
	}
}

// start runs a load of six games and interrupts it after some moves and events. ended receives the
// result.
func start(t *testing.T, ending context.Context, protocol string) (r *run, server grpc.ClientConnInterface, ended <-chan error) {
	t.Helper()
	running, _ := servertest.Start(t, servertest.Config(t))
	c, err := parse([]string{
		"--server", running.Addr().String(), "--players", "3", "--games", "2", "--watchers", "2",
		"--protocol", protocol, "--duration", time.Hour.String(),
	})
	require.NoError(t, err)
	r = newRun(c)
	loading, interrupt := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() { result <- r.run(loading, ending) }()
	waittest.Until(t, "moves were made and seen", func() bool { return r.moves.Load() >= 50 && r.events.Load() >= 50 })
	interrupt()
	return r, servertest.Dial(t, running.Addr()), result
}

// requireOpen fails the test unless each game of the run is open, or none is.
func requireOpen(t *testing.T, r *run, server grpc.ClientConnInterface, open bool) {
	t.Helper()
	for _, p := range r.players {
		for _, place := range p.places {
			game, err := pb.NewGameServiceClient(server).GetGame(t.Context(), &pb.GetGameRequest{GameId: place.game.id})
			require.NoError(t, err)
			assert.Equal(t, open, game.GetGame().GetStatus() != pb.GameStatus_GAME_STATUS_FINISHED)
		}
	}
}
