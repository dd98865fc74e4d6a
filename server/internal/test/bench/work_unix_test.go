//go:build slow && unix

package bench

import (
	"syscall"
	"time"
)

// work returns the processor time of this process.
func work() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// writeTo makes one write(2) call to a file descriptor.
func writeTo(fd uintptr, b []byte) { _, _ = syscall.Write(int(fd), b) }
