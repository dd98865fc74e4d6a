// Package process runs other programs for tests: it starts them so that they do
// not outlive the test binary, pauses them, kills them, and finds ports for
// them. Only tests import it.
package process

import (
	"os/exec"
)

// Process is a program that runs. Its methods may be called concurrently.
type Process struct {
	cmd    *exec.Cmd
	exited chan struct{}
}

// Start starts a command, which ends with this process at the latest. The
// caller must Kill it.
func Start(cmd *exec.Cmd) (*Process, error) {
	endWithParent(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &Process{cmd: cmd, exited: make(chan struct{})}
	go func() {
		defer close(p.exited)
		_ = cmd.Wait()
	}()
	return p, nil
}

// Pid is the process's number.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Exited is closed when the process has ended and all that it wrote was read.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Kill ends the process by SIGKILL, as a power cut would, and waits until it is
// gone. Killing twice does nothing.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// Pause stops the process (SIGSTOP): its connections stay open and nothing
// answers until Resume. On Linux it has stopped when Pause returns.
func (p *Process) Pause() error { return pause(p.cmd.Process) }

// Resume lets a paused process go on (SIGCONT).
func (p *Process) Resume() error { return resume(p.cmd.Process) }
