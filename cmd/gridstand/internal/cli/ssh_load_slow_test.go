//go:build slow && linux

package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/gridstand/gridstand/client"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	"github.com/gridstand/gridstand/internal/testkit/process"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// TestSSHHost_Load reports the resources that an SSH host needs for 200 clients (50
// with the race detector) that watch a game with two moves per second.
func TestSSHHost_Load(t *testing.T) {
	const frames = 40 // the least that each session receives
	sessions := 200
	if process.Race {
		sessions = 50 // the race detector makes 200 sessions too slow on a busy machine
	}
	server := someServer(t)
	ada := newUser(t, server, "ada")
	game := strings.TrimSpace(ada.ok("new", "6x6"))

	h, host := startSSHProcess(t, server, sessions)
	start := time.Now()
	received := make([]frameCounter, sessions)
	for i := range received {
		h.watch(game, 80, 24, &received[i])
	}
	ctx, stop := context.WithCancel(t.Context())
	var playing sync.WaitGroup
	playing.Go(func() { ada.playSlowly(ctx, game) })
	defer func() { stop(); playing.Wait() }()
	for i := range received {
		waittest.Until(t, fmt.Sprintf("session %d has received %d frames", i, frames), func() bool { return received[i].Load() >= frames })
	}
	took := time.Since(start)
	require.NoError(t, host.Process.Signal(os.Interrupt))
	require.NoError(t, host.Wait(), h.log)
	used := host.ProcessState
	t.Logf("figure: memory of %d SSH sessions | %.0f MB | at most 250 MB", sessions, float64(used.SysUsage().(*syscall.Rusage).Maxrss)/1000)
	t.Logf("figure: processors for %d SSH sessions | %.2f | at most 1", sessions, (used.UserTime()+used.SystemTime()).Seconds()/took.Seconds())
}

// startSSHProcess starts an SSH host in a process of its own.
func startSSHProcess(t *testing.T, server string, perAddress int) (*sshHost, *exec.Cmd) {
	t.Helper()
	h := &sshHost{t: t, log: &output{}}
	host := exec.Command(os.Args[0], "ssh-host", "--listen", "127.0.0.1:0", "--server", server,
		"--host-key", filepath.Join(t.TempDir(), "key"), "--max-sessions-per-address", strconv.Itoa(perAddress))
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

// TestSSHHost_Watchers reports how long others wait for a login while 50 sessions of one address
// watch, in the largest window, a game that moves as often as the limits allow.
func TestSSHHost_Watchers(t *testing.T) {
	const sessions, frames, logins = 50, 20, 20
	server := someServer(t)
	h, _ := startSSHProcess(t, server, sessions)
	calm := h.logins(logins)

	c, err := client.Dial(client.Config{Target: server})
	require.NoError(t, err)
	defer c.Close()
	_, token, err := c.CreatePlayer(t.Context(), "mover", false)
	require.NoError(t, err)
	game, err := c.As(token).NewGame(t.Context(), "6x6", client.GameOptions{})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var playing sync.WaitGroup
	playing.Go(func() { playFast(ctx, c.As(token).Seat(game), game) })
	defer func() { stop(); playing.Wait() }()
	received := make([]frameCounter, sessions)
	for i := range received {
		h.watch(game.GetId(), 240, 64, &received[i])
	}
	for i := range received {
		waittest.Until(t, fmt.Sprintf("session %d has received %d frames", i, frames), func() bool { return received[i].Load() >= frames })
	}
	t.Logf("figure: median login by SSH while %d sessions of another address watch | %.0f ms | %.0f ms", sessions,
		h.logins(logins).Seconds()*1000, calm.Seconds()*1000)
}

// logins logs in from another address than other clients, and returns the median time.
func (h *sshHost) logins(n int) time.Duration {
	h.t.Helper()
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	var took []time.Duration
	for range n {
		began := time.Now()
		conn, err := from.Dial("tcp", h.address)
		require.NoError(h.t, err)
		c, channels, requests, err := ssh.NewClientConn(conn, "", sshConfig(nil))
		require.NoError(h.t, err)
		s, err := ssh.NewClient(c, channels, requests).NewSession()
		require.NoError(h.t, err)
		require.NoError(h.t, s.Run("help"))
		took = append(took, time.Since(began))
		require.NoError(h.t, c.Close())
	}
	slices.Sort(took)
	return took[n/2]
}

// playFast moves 150 times per second until ctx is done.
func playFast(ctx context.Context, seat *client.Seat, game client.Game) {
	every := time.NewTicker(time.Second / 150)
	defer every.Stop()
	for version, position := game.GetVersion(), game.GetPosition(); ctx.Err() == nil; <-every.C {
		event, err := seat.Move(ctx, version, client.Slide(playertest.Lasting(version, position)), false)
		if err == nil {
			version, position = event.GetVersion(), event.GetPosition()
		}
	}
}

// playSlowly makes two moves per second, unless they are illegal, until ctx is done.
func (u *person) playSlowly(ctx context.Context, game string) {
	directions := []string{"left", "down", "right", "up"}
	for n := 0; ctx.Err() == nil; n++ {
		u.program(io.Discard, io.Discard).run(ctx, []string{"move", game, directions[n%len(directions)]})
		select {
		case <-ctx.Done():
		case <-time.After(time.Second / 2):
		}
	}
}

// frameCounter counts the frames that a session receives.
type frameCounter struct{ atomic.Int64 }

func (c *frameCounter) Write(b []byte) (int, error) {
	c.Add(1)
	return len(b), nil
}
