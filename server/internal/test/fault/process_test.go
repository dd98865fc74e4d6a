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
	"github.com/gridstand/gridstand/server/limits"
)

// unlimited is app.Config.Unlimited as flags.
var unlimited = func() (flags []string) {
	for _, limit := range limits.Table {
		if limit.Field != "message_bytes" {
			flags = append(flags, "--"+limit.Flag+"=0")
		}
	}
	return flags
}()

// serveProcess starts the server's program, as a host does, with the settings
// of quick. redis is as in serve. Further flags win over those.
func (w *world) serveProcess(redis string, flags ...string) *testServer {
	w.t.Helper()
	return w.serveProgram(exec.Command(process.Build(w.t, "cmd/gridstand-server")), redis, append(slices.Clone(unlimited), flags...)...)
}

// serveProgram is serveProcess with a program that is the server's in some way,
// and with its limits unless flags say unlimited.
func (w *world) serveProgram(cmd *exec.Cmd, redis string, flags ...string) *testServer {
	w.t.Helper()
	log := &processLog{t: w.t, addr: make(chan string, 1), metrics: make(chan string, 1)}
	cmd.Args = append(cmd.Args,
		"--listen", "127.0.0.1:0", "--redis", "redis://"+redis, "--log-format", "json",
		"--min-turn-limit", "1ms", "--bot-pace", botPace.String())
	cmd.Args = append(cmd.Args, flags...)
	cmd.Stderr = log
	process, err := process.Start(cmd)
	require.NoError(w.t, err)
	w.t.Cleanup(process.Kill)
	select {
	case addr := <-log.addr:
		return &testServer{addr: addr, stop: process.Kill, process: process, metrics: log.metrics}
	case <-process.Exited():
		require.Fail(w.t, "the server does not start")
	case <-time.After(patience):
		require.Fail(w.t, "the server does not begin to serve")
	}
	return nil
}

// processLog is what a server process logs. It passes it on to the test, looks
// for the address, and fails the test for errors as alarm does.
type processLog struct {
	t    *testing.T
	addr chan string
	// metrics is where it serves metrics, if it does.
	metrics chan string

	mu   sync.Mutex
	line []byte // begun
}

// Write implements io.Writer.
func (l *processLog) Write(p []byte) (int, error) {
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

func (l *processLog) read(line []byte) {
	var entry struct{ Level, Msg, Address string }
	if err := json.Unmarshal(line, &entry); err != nil {
		l.t.Errorf("the server printed: %s", line) // such as a race, or a panic
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
