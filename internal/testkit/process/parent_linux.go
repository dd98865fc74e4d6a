package process

import (
	"os/exec"
	"syscall"
)

// endWithParent has the kernel kill cmd when the test binary dies without its
// cleanups, as after a panic or go test's time-out.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
