//go:build unix

package bench

import (
	"syscall"
	"time"
)

// work is for how long this process had a processor.
func work() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// writeTo is one write(2) to a file descriptor.
func writeTo(fd uintptr, b []byte) { _, _ = syscall.Write(int(fd), b) }
