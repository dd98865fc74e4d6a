package compose

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestImage is the image alone, without settings: it keeps games in its volume, which
// is all that it can write to.
func TestImage(t *testing.T) {
	wantsDocker(t)
	t.Parallel()
	s := newStack(t)
	require.NoError(t, os.WriteFile(s.added, []byte("services:\n  server: {}\n"), 0o600))
	s.compose("build", "server")
	name := s.project + "-alone" // of the container and its volume
	t.Cleanup(func() {
		if t.Failed() {
			out, _ := tryDocker("logs", "--tail", "40", name)
			t.Log(out)
		}
		_, _ = tryDocker("rm", "-f", name)
		_, _ = tryDocker("volume", "rm", name)
	})
	run := func() {
		docker(t, "run", "-d", "--name", name, "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges:true",
			"--volume", name+":/data", "--publish", s.address()+":2048", "--env", "GRIDSTAND_BOT_PACE=100ms", "gridstand-server")
		require.Eventually(t, func() bool {
			state, err := tryDocker("inspect", "-f", "{{.State.Health.Status}}", name)
			return err == nil && state == "healthy"
		}, patience, 300*time.Millisecond)
	}
	run()
	harmless(t, "server", docker(t, "inspect", "-f", "{{.Id}}", name), []int{2048}, "/data")

	p := begin(t, s.address())
	p.goesOn("begin")
	docker(t, "kill", "-s", "KILL", name)
	docker(t, "start", name)
	p.goesOn("SIGKILL")
	docker(t, "rm", "-f", name)
	run()
	p.goesOn("another container with the volume")
	p.end()
	p.check(s.address())
}
