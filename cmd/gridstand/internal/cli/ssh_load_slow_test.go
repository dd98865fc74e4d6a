//go:build slow && linux

package cli

import (
	"bytes"
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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/process"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// TestSSHHost_Load measures the resources that an SSH host needs for 200 clients (50
// with the race detector) that watch a game with two moves per second.
func TestSSHHost_Load(t *testing.T) {
	const measured = 20 * time.Second
	sessions := 200
	if process.Race {
		sessions = 50 // the race detector makes 200 sessions too slow on a busy machine
	}
	config := servertest.Config(t)
	config.Limits.MovesPerSecond = 2
	running, _ := servertest.Start(t, config)
	server := running.Addr().String()
	ctx, stop := context.WithCancel(t.Context())
	played := make(chan int)
	go func() {
		played <- newUser(t, server, "ada").program(io.Discard, io.Discard).run(ctx, []string{"bot", "rote", "6x6", "--games", "100"})
	}()
	defer func() { stop(); <-played }()

	h := &sshHost{t: t, log: &output{}}
	host := exec.Command(os.Args[0], "ssh-host", "--listen", "127.0.0.1:0", "--server", server,
		"--host-key", filepath.Join(t.TempDir(), "key"), "--max-sessions-per-address", strconv.Itoa(sessions))
	host.Env, host.Stderr = append(os.Environ(), actAsClient+"=1"), h.log
	require.NoError(t, host.Start())
	h.serves()
	var received atomic.Int64
	for range sessions {
		s, seen := h.session(nil), make(chan struct{})
		s.Stdout = &counter{all: &received, seen: sync.OnceFunc(func() { close(seen) })}
		_, err := s.StdinPipe() // the session would end at the end of its input
		require.NoError(t, err)
		require.NoError(t, s.Setenv("COLORTERM", "truecolor"))
		require.NoError(t, s.RequestPty("xterm-256color", 24, 80, nil))
		require.NoError(t, s.Start("tv"))
		waittest.Receive(t, "a session that shows the game", seen)
	}
	before, bytesBefore, start := processorTime(t, host.Process.Pid), received.Load(), time.Now()
	<-time.After(measured)
	took := time.Since(start).Seconds()
	cores := (processorTime(t, host.Process.Pid) - before).Seconds() / took
	rate := float64(received.Load()-bytesBefore) / 1000 / took / float64(sessions)
	require.NoError(t, host.Process.Signal(os.Interrupt))
	require.NoError(t, host.Wait(), h.log)
	megabytes := float64(host.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) / 1000
	t.Logf("%d sessions: at most %.0f MB resident, %.2f processors, %.1f kB/s for each", sessions, megabytes, cores, rate)
}

// counter counts the bytes that sessions receive, and calls seen when its session shows a game.
type counter struct {
	all  *atomic.Int64
	seen func()
}

func (c *counter) Write(b []byte) (int, error) {
	c.all.Add(int64(len(b)))
	if bytes.Contains(b, []byte("live")) {
		c.seen()
	}
	return len(b), nil
}

// processorTime returns the CPU time used by a process.
func processorTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(t, err)
	ticks := 0
	for _, field := range strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))[11:13] { // utime and stime, in hundredths of a second
		n, err := strconv.Atoi(field)
		assert.NoError(t, err)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
