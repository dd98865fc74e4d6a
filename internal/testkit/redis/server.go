package redistest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/internal/testkit/process"
)

const (
	startAttempts = 20
	startTimeout  = 20 * time.Second // Generous: machines under load.
)

// Server is a redis-server process of one test. Its methods are for the test's
// own goroutine, except Addr and URL, which anyone may call.
type Server struct {
	t    testing.TB
	port int
	dir  string
	args []string
	run  *process.Process // nil while it does not run
	out  *bytes.Buffer    // What it printed; to be read only after it exited.
}

// StartRedis starts a redis-server on a free local port with an empty data
// directory and without persistence, and waits until it answers. Further
// arguments are appended to its command line and win over the defaults (for
// instance "--appendonly", "yes"). It skips the test where redis-server is not
// on the PATH, and with -short. The process is killed when the test ends.
func StartRedis(t testing.TB, args ...string) *Server {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a redis-server process")
	}
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("redis-server is not installed")
	}
	s := &Server{t: t, dir: t.TempDir()}
	base := append([]string{
		// A file that may not grow is to be an error, and not the end.
		"sh", "-c", `trap "" XFSZ; exec "$0" "$@"`,
		path, "--bind", "127.0.0.1", "--protected-mode", "yes",
		"--dir", s.dir, "--save", "", "--appendonly", "no",
	}, args...)
	t.Cleanup(s.Kill)
	for range startAttempts {
		s.port = process.FreePort(t)
		s.args = append(base[:len(base):len(base)], "--port", strconv.Itoa(s.port))
		if err = s.start(); err == nil {
			return s
		}
	}
	t.Fatalf("redis-server does not start: %v", err)
	return nil
}

// Addr is the server's host and port, the same after a Restart.
func (s *Server) Addr() string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port))
}

// URL is the server's address as redis.ParseURL takes it.
func (s *Server) URL() string { return "redis://" + s.Addr() + "/0" }

// Kill ends the process by SIGKILL, as a power cut would, and waits until it is
// gone. Killing twice does nothing.
func (s *Server) Kill() {
	if s.run == nil {
		return
	}
	s.run.Kill()
	s.run = nil
}

// Pause stops the process (SIGSTOP): connections stay open and nothing answers
// until Resume.
func (s *Server) Pause() {
	s.t.Helper()
	if err := s.run.Pause(); err != nil {
		s.t.Fatalf("pausing redis-server: %v", err)
	}
}

// Resume lets a paused process go on (SIGCONT).
func (s *Server) Resume() {
	s.t.Helper()
	if err := s.run.Resume(); err != nil {
		s.t.Fatalf("resuming redis-server: %v", err)
	}
}

// FillDisk lets the process's files grow by no more than so many bytes, as if
// its disk were full then, until it is started again. It reports false if the
// machine has no prlimit. A Redis that fsyncs every append exits when it
// cannot; Restart starts it again.
func (s *Server) FillDisk(room int64) bool {
	s.t.Helper()
	limit, err := exec.LookPath("prlimit")
	if err != nil {
		return false
	}
	var largest int64
	files, _ := filepath.Glob(filepath.Join(s.dir, "appendonlydir", "*.aof"))
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			largest = max(largest, info.Size())
		}
	}
	out, err := exec.Command(limit, "--pid", strconv.Itoa(s.run.Pid()), fmt.Sprintf("--fsize=%d:", largest+room)).CombinedOutput()
	if err != nil {
		s.t.Fatalf("limiting redis-server's files: %v: %s", err, out)
	}
	return true
}

// Exited is closed when the process has ended, by whatever.
func (s *Server) Exited() <-chan struct{} { return s.run.Exited() }

// Restart kills the process if it runs and starts it again with the same
// arguments, port and directory: what was in its append-only file is there
// again, everything else is lost.
func (s *Server) Restart() {
	s.t.Helper()
	s.Kill()
	if err := s.start(); err != nil {
		s.t.Fatalf("redis-server does not start again: %v", err)
	}
}

// start starts the process and waits until it answers, and not another process
// on the same port. After an error nothing runs.
func (s *Server) start() error {
	cmd := exec.Command(s.args[0], s.args[1:]...)
	s.out = &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = s.out, s.out
	run, err := process.Start(cmd)
	if err != nil {
		return err
	}
	s.run = run

	client := redis.NewClient(&redis.Options{Addr: s.Addr(), MaxRetries: -1})
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	pid := fmt.Sprintf("process_id:%d\r\n", run.Pid())
	for {
		info, err := client.Info(ctx, "server").Result()
		if err == nil && strings.Contains(info, pid) && client.Ping(ctx).Err() == nil {
			return nil
		}
		select {
		case <-run.Exited(): // Most likely somebody else took the port.
			s.run = nil
			return fmt.Errorf("it ended at once: %s", s.out)
		case <-ctx.Done():
			s.Kill()
			return fmt.Errorf("no answer within %v: %s", startTimeout, s.out)
		case <-poll.C:
		}
	}
}
