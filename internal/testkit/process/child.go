// Package process runs other programs for tests. It starts, pauses and kills them, finds free ports
// for them, and makes sure that they do not outlive the test binary. Only tests import it.
package process

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// Process is a running program. Its methods are safe for concurrent use.
type Process struct {
	t      testing.TB
	cmd    *exec.Cmd
	exited chan struct{}
}

// Start starts a command. The caller must Kill it. On Linux, it is also killed if this
// process dies.
func Start(t testing.TB, cmd *exec.Cmd) *Process {
	t.Helper()
	endWithParent(cmd)
	require.NoError(t, cmd.Start())
	p := &Process{t: t, cmd: cmd, exited: make(chan struct{})}
	go func() {
		defer close(p.exited)
		_ = cmd.Wait()
	}()
	return p
}

// Pid returns the process ID.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Exited returns a channel that is closed when the process has ended and all of its output
// has been read.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Kill ends the process by SIGKILL, as a power failure would, and waits until it has ended. Killing
// it again is a no-op.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// Pause stops the process (SIGSTOP): its connections stay open, but it does not answer until
// Resume. On Linux, all of its threads have stopped when Pause returns.
func (p *Process) Pause() {
	p.t.Helper()
	require.NoError(p.t, pause(p.cmd.Process))
}

// Resume lets a paused process continue (SIGCONT).
func (p *Process) Resume() {
	p.t.Helper()
	require.NoError(p.t, resume(p.cmd.Process))
}
