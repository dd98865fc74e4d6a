//go:build slow && linux

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/testkit/process"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// TestSSHHost_Load measures the resources that an SSH host needs for 200 clients (50
// with the race detector) that watch a game with two moves per second.
func TestSSHHost_Load(t *testing.T) {
	const atOnce, measured = 20, 20 * time.Second
	sessions := 200
	if process.Race {
		sessions = 50 // the race detector makes 200 sessions too slow on a busy machine
	}
	server := quickServer(t)
	binary, err := os.Executable()
	require.NoError(t, err)
	host := exec.Command(binary, "ssh-host", "--listen", "127.0.0.1:0", "--server", server,
		"--host-key", filepath.Join(t.TempDir(), "key"), "--max-sessions-per-address", strconv.Itoa(sessions))
	host.Env = append(os.Environ(), actAsClient+"=1")
	log := &output{}
	host.Stderr = log
	require.NoError(t, host.Start())
	t.Cleanup(func() {
		assert.NoError(t, host.Process.Signal(os.Interrupt))
		assert.NoError(t, host.Wait(), log)
	})
	serving := regexp.MustCompile(`msg=serving address=(\S+)`)
	waittest.Until(t, "the host serves", func() bool { return serving.MatchString(log.String()) })
	address := serving.FindStringSubmatch(log.String())[1]

	play(t, server, 2)
	empty := resident(t, host.Process.Pid)
	var received atomic.Int64
	var all errgroup.Group
	begun := make(chan struct{}, sessions)
	ctx, leave := context.WithCancel(t.Context())
	t.Cleanup(func() { leave(); assert.NoError(t, all.Wait()) })
	for n := range sessions {
		all.Go(func() error { return watchOverSSH(ctx, address, &received, begun) })
		if n < atOnce {
			continue
		}
		waittest.Receive(t, "a session that shows the game", begun)
	}
	before, bytesBefore, start := processorTime(t, host.Process.Pid), received.Load(), time.Now()
	<-time.After(measured)
	took := time.Since(start)
	cores := (processorTime(t, host.Process.Pid) - before).Seconds() / took.Seconds()
	megabytes := resident(t, host.Process.Pid)
	t.Logf("%d sessions: %.0f MB resident (%.0f MB without a session), %.2f processors, %.1f kB/s for each",
		sessions, megabytes, empty, cores, float64(received.Load()-bytesBefore)/1000/took.Seconds()/float64(sessions))
}

// watchOverSSH watches TV until ctx is done. It counts the received bytes, and sends to
// begun when it sees a game.
func watchOverSSH(ctx context.Context, address string, received *atomic.Int64, begun chan<- struct{}) error {
	c, err := ssh.Dial("tcp", address, &ssh.ClientConfig{
		User: "ada", HostKeyCallback: ssh.InsecureIgnoreHostKey(),
		Auth: []ssh.AuthMethod{ssh.KeyboardInteractive(func(string, string, []string, []bool) ([]string, error) { return nil, nil })},
	})
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	s, err := c.NewSession()
	if err != nil {
		return err
	}
	out, err := s.StdoutPipe()
	in, err2 := s.StdinPipe()
	err = errors.Join(err, err2, s.Setenv("COLORTERM", "truecolor"), s.RequestPty("xterm-256color", 24, 80, nil), s.Start("tv"))
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	seen := false
	for buffer := make([]byte, 1<<15); ; {
		n, err := out.Read(buffer)
		received.Add(int64(n))
		if ctx.Err() != nil || err != nil {
			if ctx.Err() != nil {
				err = nil
			}
			return err
		}
		if !seen && bytes.Contains(buffer[:n], []byte("live")) {
			seen = true
			begun <- struct{}{}
		}
	}
}

// play plays a game until the test ends, at the given number of moves per second.
func play(t *testing.T, server string, rate int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	t.Cleanup(func() { cancel(); <-done })
	c, err := client.Dial(client.Config{Target: server})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	_, token, err := c.CreatePlayer(ctx, "ada", true)
	require.NoError(t, err)
	c.SetToken(token)
	g, err := c.NewGame(ctx, "6x6", client.GameOptions{})
	require.NoError(t, err)
	go func() {
		defer close(done)
		every := time.NewTicker(time.Second / time.Duration(rate))
		defer every.Stop()
		seat := c.Seat(g)
		_, err := seat.Play(ctx, g, func(ctx context.Context, g client.Game) (client.Move, error) {
			select {
			case <-ctx.Done():
				return client.Move{}, ctx.Err()
			case <-every.C:
			}
			return client.Slide(g.GetPosition().GetTwenty48().GetLegalMoves()[0]), nil
		})
		assert.ErrorIs(t, err, context.Canceled)
	}()
}

// resident returns the resident memory of a process, in MB.
func resident(t *testing.T, pid int) float64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	fields := strings.Fields(regexp.MustCompile(`VmRSS:.*`).FindString(string(text)))
	kilobytes, err := strconv.Atoi(fields[1])
	require.NoError(t, err)
	return float64(kilobytes) / 1000
}

// processorTime returns the CPU time used by a process.
func processorTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(t, err)
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	ticks := 0
	for _, field := range fields[11:13] { // utime and stime, in hundredths of a second
		n, err := strconv.Atoi(field)
		require.NoError(t, err)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
