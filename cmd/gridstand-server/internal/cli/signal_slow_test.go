//go:build slow

package cli

import (
	"regexp"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"

	servertest "github.com/gridstand/gridstand/internal/testkit/server"
)

// Ensure that a second signal ends a server that is still stopping. An idle stream makes a stop take
// half a second. On a busy machine, that may be over before the second signal.
func TestProcess_SecondSignal(t *testing.T) {
	t.Parallel()
	const tries = 20
	for range tries {
		p := startProcess(t, "--store", "memory", "--stop-timeout", "1h")
		stream, err := grpc_reflection_v1.NewServerReflectionClient(servertest.Dial(t, p.addr)).ServerReflectionInfo(t.Context())
		require.NoError(t, err)
		require.NoError(t, stream.Send(&grpc_reflection_v1.ServerReflectionRequest{
			MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_ListServices{},
		}))
		_, err = stream.Recv()
		require.NoError(t, err)

		require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
		p.waitFor(t, regexp.MustCompile("msg=stopping"))
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // fails if the process has ended
		if p.end(t) < 0 {                         // The signal ended it.
			assert.NotContains(t, p.output(), "msg=stopped")
			return
		}
		require.Contains(t, p.output(), "msg=stopped")
	}
	require.Fail(t, "no stop was interrupted")
}
