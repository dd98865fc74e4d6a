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
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// TestSSHHost_Load reports the resources that an SSH host needs for 200 clients (50
// with the race detector) that watch a game with two moves per second.
func TestSSHHost_Load(t *testing.T) {
	const frames = 40 // the least that each session receives while the host is measured
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
	var received atomic.Int64
	var counters []*counter
	for range sessions {
		s, seen := h.session(nil), make(chan struct{})
		c := &counter{all: &received, seen: sync.OnceFunc(func() { close(seen) })}
		s.Stdout, counters = c, append(counters, c)
		_, err := s.StdinPipe() // the session would end at the end of its input
		require.NoError(t, err)
		require.NoError(t, s.Setenv("COLORTERM", "truecolor"))
		require.NoError(t, s.RequestPty("xterm-256color", 24, 80, nil))
		require.NoError(t, s.Start("watch"))
		waittest.Receive(t, "a session that shows the game", seen)
	}
	ctx, stop := context.WithCancel(t.Context())
	var playing sync.WaitGroup
	playing.Go(func() { ada.playSlowly(ctx, game) })
	defer func() { stop(); playing.Wait() }()
	for _, c := range counters {
		c.frames.Store(0)
	}
	before, bytesBefore, start := processorTime(t, host.Process.Pid), received.Load(), time.Now()
	for i, c := range counters {
		waittest.Until(t, fmt.Sprintf("session %d has received %d frames", i, frames), func() bool { return c.frames.Load() >= frames })
	}
	took := time.Since(start).Seconds()
	cores := (processorTime(t, host.Process.Pid) - before).Seconds() / took
	rate := float64(received.Load()-bytesBefore) / 1000 / took / float64(sessions)
	require.NoError(t, host.Process.Signal(os.Interrupt))
	require.NoError(t, host.Wait(), h.log)
	megabytes := float64(host.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) / 1000
	t.Logf("figure: memory of %d SSH sessions | %.0f MB | at most 250 MB", sessions, megabytes)
	t.Logf("figure: processors for %d SSH sessions | %.2f | at most 1", sessions, cores)
	t.Logf("figure: output of an SSH session | %.1f kB/s | -", rate)
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

// counter counts the bytes and frames that a session receives, and calls seen when it shows a game.
type counter struct {
	all    *atomic.Int64
	frames atomic.Int64
	seen   func()
	end    []byte // of what was received, because a frame can arrive in several parts
}

func (c *counter) Write(b []byte) (int, error) {
	c.all.Add(int64(len(b)))
	c.frames.Add(1)
	text := append(c.end, b...)
	if bytes.Contains(text, []byte("live")) || bytes.Contains(text, []byte("idle")) {
		c.seen()
	}
	c.end = bytes.Clone(text[max(0, len(text)-3):])
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
