package testkit_test

import (
	"bytes"
	"net"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/process"
)

// Ensure that a program is built only once, and can be paused, resumed and killed.
func TestProcess(t *testing.T) {
	t.Parallel()
	const program = "internal/ratio/table" // small, and exits at the end of its input
	path := process.Build(t, program)
	assert.Equal(t, path, process.Build(t, program))

	var out bytes.Buffer
	cmd := exec.Command(path)
	cmd.Stderr = &out
	input, err := cmd.StdinPipe()
	require.NoError(t, err)
	defer func() { _ = input.Close() }()
	p, err := process.Start(cmd)
	require.NoError(t, err)
	t.Cleanup(p.Kill)
	assert.Positive(t, p.Pid())
	require.NoError(t, p.Pause())
	require.NoError(t, p.Resume())
	select {
	case <-p.Exited():
		require.Fail(t, "the process has exited", out.String())
	case <-time.After(10 * time.Millisecond):
	}
	p.Kill()
	p.Kill()
	<-p.Exited()
	require.Error(t, p.Pause())

	_, err = process.Start(exec.Command(path + "-missing"))
	require.Error(t, err)
}

// Ensure that FreePort returns a port only once, even if nothing listens on it for a while,
// that test binaries that run at the same time get different ports, and that neither the port nor
// its Redis Cluster bus is in the range that the system assigns.
func TestProcess_FreePort(t *testing.T) {
	t.Parallel()
	seen := map[int]bool{}
	for range 200 {
		port := process.FreePort(t)
		assert.False(t, seen[port])
		assert.Less(t, port+10000, 32768)
		seen[port] = true
		_, err := net.ListenPacket("udp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		require.Error(t, err, "the port is not reserved")
	}
}
