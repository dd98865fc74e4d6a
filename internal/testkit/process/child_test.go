package process

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		RemoveBuilt()
		os.Exit(code)
	}))
}

// Ensure a program is built once, and can be stopped, let go on, and killed.
func TestProcess(t *testing.T) {
	t.Parallel()
	const program = "internal/ratio/table" // It is small, and ends with its input.
	path := Build(t, program)
	assert.Equal(t, path, Build(t, program))

	var out bytes.Buffer
	cmd := exec.Command(path)
	cmd.Stderr = &out
	input, err := cmd.StdinPipe()
	require.NoError(t, err)
	defer func() { _ = input.Close() }()
	p, err := Start(cmd)
	require.NoError(t, err)
	t.Cleanup(p.Kill)
	assert.Positive(t, p.Pid())
	require.NoError(t, p.Pause())
	require.NoError(t, p.Resume())
	select {
	case <-p.Exited():
		require.Fail(t, "it has ended", out.String())
	case <-time.After(10 * time.Millisecond):
	}
	p.Kill()
	p.Kill()
	<-p.Exited()
	require.Error(t, p.Pause())

	_, err = Start(exec.Command(path + "-missing"))
	require.Error(t, err)
}

// Ensure nobody gets the port of somebody else, who may be away for a while, nor
// one that the system may give away, itself or as the bus of a Redis Cluster.
func TestFreePort(t *testing.T) {
	t.Parallel()
	seen := map[int]bool{}
	for range 200 {
		port := FreePort(t)
		assert.False(t, seen[port])
		assert.Less(t, port+10000, 32768)
		seen[port] = true
	}
}

// Ensure a program can have a clock that is off, both ways.
func TestBuildOff_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	path := BuildOff(t, "cmd/gridstand-server")
	for _, off := range []time.Duration{-time.Hour, 0, time.Hour} {
		cmd := exec.Command(path, "--listen", "127.0.0.1:0", "--log-format", "json")
		cmd.Env = append(os.Environ(), Off(off))
		stderr, err := cmd.StderrPipe()
		require.NoError(t, err)
		p, err := Start(cmd)
		require.NoError(t, err)
		var line struct{ Time time.Time }
		require.NoError(t, json.NewDecoder(stderr).Decode(&line))
		p.Kill()
		assert.WithinDuration(t, time.Now().Add(off), line.Time, 10*time.Minute)
	}
}
