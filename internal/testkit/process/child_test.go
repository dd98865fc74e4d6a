package process

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		RemoveBuilt()
		os.Exit(code)
	}))
}

// Ensure that a program is built once, and can be stopped, let go on, and
// killed.
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

// Ensure that a port is returned once, even if nothing listens on it for a
// while, and that the system does not give it away, itself or as the bus of a
// Redis Cluster.
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
