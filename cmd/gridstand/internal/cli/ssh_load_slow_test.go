//go:build slow && linux

package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/client"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	"github.com/gridstand/gridstand/internal/testkit/process"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// TestSSHHost_Load reports the resources that an SSH host needs for 200 sessions (50 with the race
// detector) that watch a game with two moves per second, and for 50 sessions that watch, in the largest
// window, a game that moves as often as the limits allow.
func TestSSHHost_Load(t *testing.T) {
	sessions := 200
	if process.Race {
		sessions = 50 // the race detector makes 200 sessions too slow on a busy machine
	}
	for _, tt := range []struct {
		name                    string
		sessions, columns, rows int
		moves, frames           int    // per second, and the least that each session receives
		memory, processors      string // what they are compared with
	}{
		{"SSH sessions", sessions, 80, 24, 2, 40, "at most 250 MB", "at most 1"},
		{"large SSH sessions", 50, 240, 64, 150, 20, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := someServer(t)
			h, host := startSSHProcess(t, server, tt.sessions)
			c := servertest.Client(t, client.Config{Target: server})
			_, token, err := c.CreatePlayer(t.Context(), "mover", false)
			require.NoError(t, err)
			game, err := c.As(token).NewGame(t.Context(), "6x6", client.GameOptions{})
			require.NoError(t, err)

			start := time.Now()
			received := make([]frameCounter, tt.sessions)
			for i := range received {
				h.watch(game.GetId(), tt.columns, tt.rows, &received[i])
			}
			ctx, stop := context.WithCancel(t.Context())
			var playing sync.WaitGroup
			playing.Go(func() { play(ctx, c.As(token).Seat(game), game, tt.moves) })
			defer func() { stop(); playing.Wait() }()
			for i := range received {
				waittest.Until(t, fmt.Sprintf("session %d has received %d frames", i, tt.frames), func() bool { return int(received[i].Load()) >= tt.frames })
			}
			took := time.Since(start)
			require.NoError(t, host.Process.Signal(os.Interrupt))
			require.NoError(t, host.Wait(), h.log)
			used, name := host.ProcessState, fmt.Sprint(tt.sessions, " ", tt.name)
			t.Logf("figure: memory of %s | %.0f MB | %s", name, float64(used.SysUsage().(*syscall.Rusage).Maxrss)/1000, tt.memory)
			t.Logf("figure: processors for %s | %.2f | %s", name, (used.UserTime()+used.SystemTime()).Seconds()/took.Seconds(), tt.processors)
		})
	}
}

// startSSHProcess starts an SSH host in a process of its own.
func startSSHProcess(t *testing.T, server string, perAddress int) (*sshHost, *exec.Cmd) {
	t.Helper()
	h := &sshHost{t: t, log: &output{}}
	host := exec.Command(os.Args[0], "ssh-host", "--listen", "127.0.0.1:0", "--server", server,
		"--host-key", filepath.Join(t.TempDir(), "key"),
		"--max-sessions-per-address", strconv.Itoa(perAddress))
	host.Env, host.Stderr = append(os.Environ(), actAsClient+"=1"), h.log
	require.NoError(t, host.Start())
	t.Cleanup(func() { _ = host.Process.Kill() })
	h.serves()
	return h, host
}

// watch starts a session that watches a game.
func (h *sshHost) watch(game string, columns, rows int, out io.Writer) {
	h.t.Helper()
	s := h.session(nil)
	s.Stdout = out
	_, err := s.StdinPipe() // the session would end at the end of its input
	require.NoError(h.t, err)
	require.NoError(h.t, s.RequestPty("xterm-256color", rows, columns, nil))
	require.NoError(h.t, s.Start("watch "+game))
}

// play moves a number of times per second until ctx is done.
func play(ctx context.Context, seat *client.Seat, game client.Game, moves int) {
	every := time.NewTicker(time.Second / time.Duration(moves))
	defer every.Stop()
	for version, position := game.GetVersion(), game.GetPosition(); ctx.Err() == nil; <-every.C {
		event, err := seat.Move(ctx, version, client.Slide(playertest.Lasting(version, position)), false)
		if err == nil {
			version, position = event.GetVersion(), event.GetPosition()
		}
	}
}

// frameCounter counts the frames that a session receives.
type frameCounter struct{ atomic.Int64 }

func (c *frameCounter) Write(b []byte) (int, error) {
	c.Add(1)
	return len(b), nil
}
