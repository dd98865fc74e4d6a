package redistest

import (
	"bytes"
	"context"
	"net"
	"os/exec"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/internal/testkit/process"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// KeepsWrites are the arguments for a server that loses no write if it is killed: it writes them to
// its append-only file before it answers. It does not sync the file, so that tests do not depend on
// the disk. If an fsync takes more than a second, a server that syncs every write answers too late
// for its clients.
var KeepsWrites = []string{"--appendonly", "yes", "--appendfsync", "no"}

// Server is a redis-server process for one test. Its methods must be called from the test's
// goroutine, except Addr and URL, which are safe for concurrent use.
type Server struct {
	*process.Process
	t    testing.TB
	addr string
	args []string
}

// StartRedis starts a redis-server on a free local port with an empty data directory and
// without persistence, and waits until it answers. Additional arguments (for instance
// "--appendonly", "yes") are appended to its command line and override the defaults. It skips
// the test if redis-server is not on the PATH. The process is killed when the test ends.
func StartRedis(t testing.TB, args ...string) *Server {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("redis-server is not installed")
	}
	port := process.FreePort(t)
	s := &Server{t: t, addr: net.JoinHostPort("127.0.0.1", port)}
	s.args = append([]string{
		path, "--bind", "127.0.0.1", "--protected-mode", "yes",
		"--dir", t.TempDir(), "--save", "", "--appendonly", "no", "--port", port,
	}, args...)
	s.start()
	t.Cleanup(func() { s.Kill() }) // the process that is then the last one
	return s
}

// Addr returns the server's host and port, which stay the same after a Restart.
func (s *Server) Addr() string { return s.addr }

// URL returns the server's address in the form that redis.ParseURL expects.
func (s *Server) URL() string { return "redis://" + s.Addr() + "/0" }

// Restart kills the process if it is running and starts it again with the same arguments,
// port and directory. It keeps only the data in its append-only file.
func (s *Server) Restart() {
	s.t.Helper()
	s.Kill()
	s.start()
}

// start starts the process and waits until it answers. FreePort gave the port to no other
// process.
func (s *Server) start() {
	s.t.Helper()
	cmd := exec.Command(s.args[0], s.args[1:]...)
	out := &bytes.Buffer{} // read it only after the process has exited
	cmd.Stdout, cmd.Stderr = out, out
	s.Process = process.Start(s.t, cmd)

	client := redis.NewClient(&redis.Options{Addr: s.addr, MaxRetries: -1})
	defer func() { _ = client.Close() }()
	waittest.Until(s.t, "redis-server answers", func() bool {
		select {
		case <-s.Exited():
			s.t.Fatalf("redis-server exited immediately: %s", out)
		default:
		}
		return client.Ping(context.Background()).Err() == nil
	})
}
