package process

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

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
