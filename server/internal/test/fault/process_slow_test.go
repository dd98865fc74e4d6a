//go:build slow

package fault

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/process"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/server/limits"
)

// unlimited holds the flags that correspond to server.Config.Unlimited.
var unlimited = func() (flags []string) {
	for _, limit := range limits.Table {
		if limit.Flag != "" {
			flags = append(flags, "--"+limit.Flag+"=0")
		}
	}
	return flags
}()

// serveProcess starts the server's program with the settings of testConfig. flags come last, so
// that they override those settings.
func (env *env) serveProcess(flags ...string) *testServer {
	env.t.Helper()
	return env.serveProgram(slices.Concat(unlimited, flags)...)
}

// serveMeasured starts the server's program with limits, metrics and profiles, and returns the
// server and its gauges.
func (env *env) serveMeasured(flags ...string) (*testServer, gauges) {
	env.t.Helper()
	s := env.serveProgram(append([]string{"--metrics", "127.0.0.1:0"}, flags...)...)
	return s, gauges{"http://" + waittest.Receive(env.t, "the address of the metrics", s.metrics)}
}

// serveProgram is like serveProcess but keeps the limits, unless flags include unlimited.
func (env *env) serveProgram(flags ...string) *testServer {
	env.t.Helper()
	log, process := env.startProgram(flags...)
	select {
	case addr := <-log.addr:
		return &testServer{addr: addr, stop: process.Kill, process: process, metrics: log.metrics, env: env, flags: flags}
	case <-process.Exited():
		require.Fail(env.t, "the server did not start")
	case <-time.After(patience):
		require.Fail(env.t, "the server did not begin to serve")
	}
	return nil
}

// startCrew starts servers that the test kills and restarts. Each keeps its address.
func (env *env) startCrew(n int) (servers []*testServer) {
	env.t.Helper()
	env.serversDie = true
	for range n {
		servers = append(servers, env.serveProcess("--listen", process.FreeAddress(env.t)))
	}
	return servers
}

// restart kills a server's process, unless it has ended, and starts another one with the same flags.
func (s *testServer) restart() {
	s.stop()
	*s = *s.env.serveProgram(s.flags...)
}

// startProgram is like serveProgram, but does not wait for the server to be ready.
func (env *env) startProgram(flags ...string) (*serverLog, *process.Process) {
	env.t.Helper()
	log := newServerLog(env.t)
	words := append(slices.Clone(env.wrapper), process.Build(env.t, "cmd/gridstand-server"))
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Args = append(cmd.Args,
		"--listen", "127.0.0.1:0", "--store", env.url, "--log-format", "json",
		"--min-turn-limit", "1ms", "--bot-pace", botPace.String(), "--exhibition", "off")
	cmd.Args = append(cmd.Args, flags...)
	cmd.Stderr = log
	process := process.Start(env.t, cmd)
	env.t.Cleanup(process.Kill)
	return log, process
}

// serverLog reads the log of a server. It copies the log to the test's output, extracts the address, and
// fails the test when an error is logged, unless tests cause the error on purpose.
type serverLog struct {
	t    *testing.T
	addr chan string
	// metrics receives the address of the metrics, if the process serves them.
	metrics chan string

	mu   sync.Mutex
	line []byte // an incomplete line
}

func newServerLog(t *testing.T) *serverLog {
	return &serverLog{t: t, addr: make(chan string, 1), metrics: make(chan string, 1)}
}

// Write implements io.Writer.
func (l *serverLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.t.Output().Write(p)
	l.line = append(l.line, p...)
	for {
		line, rest, ok := bytes.Cut(l.line, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		l.read(line)
		l.line = bytes.Clone(rest)
	}
}

func (l *serverLog) read(line []byte) {
	var entry struct{ Level, Msg, Address string }
	if err := json.Unmarshal(line, &entry); err != nil {
		l.t.Errorf("the server printed: %s", line) // for example, a data race or a panic
		return
	}
	switch {
	case entry.Msg == "serving":
		l.addr <- entry.Address
	case entry.Msg == "serving metrics":
		l.metrics <- entry.Address
	case entry.Level == "ERROR" && !expected(entry.Msg):
		l.t.Errorf("the server logged an error: %s", line)
	}
}
