package process

import (
	"os/exec"
	"syscall"
)

// endWithParent makes the kernel kill cmd if the test binary dies without running its
// cleanups, such as after a panic or go test's timeout.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
