// Package testmain runs the tests of packages whose tests spend most of their time waiting. Only
// tests import it.
package testmain

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

// parallel is the number of tests of a package that run concurrently.
const parallel = "16"

// Run runs a package's tests for its TestMain and checks for leaked goroutines. Tests of servers
// and stores mostly wait for deadlines, timeouts and processes, so 16 of them run concurrently
// regardless of the number of processors. The flag -parallel overrides that.
func Run(m *testing.M, options ...goleak.Option) {
	if err := flag.Set("test.parallel", parallel); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, options...)
}
