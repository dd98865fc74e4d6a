package cli

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	processtest "github.com/gridstand/gridstand/internal/testkit/process"
)

// fullDisk is a writer that always fails.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// Ensure that an interrupted command does not wait for a Redis that accepts connections but
// never answers.
func TestRun_SilentRedis(t *testing.T) {
	t.Parallel()
	listener := processtest.Listen(t)
	ctx, interrupt := context.WithCancel(t.Context())
	accepted := make(chan struct{})
	go func() {
		defer close(accepted)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			defer func() { _ = conn.Close() }()
			interrupt()
		}
	}()
	var stdout, stderr bytes.Buffer
	assert.Equal(t, exitInterrupted, run(ctx, []string{"rebuild", "--store", "redis://" + listener.Addr().String()}, &stdout, &stderr))
	assert.Equal(t, "gridstand-server: interrupted\n", stderr.String(), "not that Redis did not answer")
	require.NoError(t, listener.Close())
	<-accepted
}

// Ensure that a program whose output cannot be written fails, also if it prints help.
func TestRun_FullDisk(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"help"}, {"help", "backup"}, {"backup", "--help"}, {"--version"}, {"completion", "bash"}} {
		var stderr bytes.Buffer
		assert.Equal(t, exitFailed, run(t.Context(), args, fullDisk{}, &stderr), "%v", args)
		assert.Contains(t, stderr.String(), "no space left on device", "%v", args)
	}
}
