package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// endWithParent makes the kernel kill cmd if the test binary dies without running its
// cleanups, such as after a panic or go test's timeout.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// pause waits until every thread has stopped. Otherwise, on a busy machine a thread may continue
// for a while and answer a request that should remain unanswered.
func pause(p *os.Process) error {
	err := p.Signal(syscall.SIGSTOP)
	for stopping := err == nil; stopping; stopping = errors.Is(err, syscall.EINTR) {
		err = unix.Waitid(unix.P_PID, p.Pid, nil, unix.WSTOPPED|unix.WNOWAIT, nil)
	}
	return err
}

func resume(p *os.Process) error { return p.Signal(syscall.SIGCONT) }
