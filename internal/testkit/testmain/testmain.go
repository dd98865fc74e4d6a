// Package testmain runs the tests of packages whose tests spend most of their time waiting. Only
// tests import it.
package testmain

import (
	"flag"
	"runtime/debug"
	"testing"

	"go.uber.org/goleak"
)

const (
	// parallel is the number of tests of a package that run concurrently.
	parallel = "16"
	// gcPercent is how far the heap of a test grows until it is collected, which is rare: the heap is
	// small, and at the default of 100 a third of some packages' processor time is garbage collection.
	gcPercent = 400
)

// Run runs a package's tests for its TestMain and checks for leaked goroutines. Tests of servers
// and stores mostly wait for deadlines, timeouts and processes, so 16 of them run concurrently
// regardless of the number of processors. The flag -parallel overrides that.
func Run(m *testing.M, options ...goleak.Option) {
	if err := flag.Set("test.parallel", parallel); err != nil {
		panic(err)
	}
	debug.SetGCPercent(gcPercent)
	goleak.VerifyTestMain(m, options...)
}
