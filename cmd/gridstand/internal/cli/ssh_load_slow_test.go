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
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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

	h := &sshHost{t: t, log: &output{}}
	host := exec.Command(os.Args[0], "ssh-host", "--listen", "127.0.0.1:0", "--server", server,
		"--host-key", filepath.Join(t.TempDir(), "key"), "--max-sessions-per-address", strconv.Itoa(sessions))
	host.Env, host.Stderr = append(os.Environ(), actAsClient+"=1"), h.log
	require.NoError(t, host.Start())
	h.serves()
	start := time.Now()
	received := make([]frameCounter, sessions)
	for i := range received {
		s := h.session(nil)
		s.Stdout = &received[i]
		_, err := s.StdinPipe() // the session would end at the end of its input
		require.NoError(t, err)
		require.NoError(t, s.RequestPty("xterm-256color", 24, 80, nil))
		require.NoError(t, s.Start("watch"))
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
