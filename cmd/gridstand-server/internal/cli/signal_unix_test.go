//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// Ensure that a second signal ends a server that cannot stop: it reads its certificate from a pipe that
// nothing is written to. TestProcess_Signal shows that the first one does not end it.
func TestProcess_SecondSignal(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "certificate")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	p := launch(t, "--store", "memory", "--tls-cert", pipe, "--tls-key", pipe)
	writer, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits for the reader
	require.NoError(t, err)
	defer writer.Close()
	waittest.Until(t, "a signal ends the process", func() bool {
		return p.cmd.Process.Signal(syscall.SIGTERM) != nil
	})
	assert.Negative(t, p.end(t), p.output()) // A signal ended it.
}
