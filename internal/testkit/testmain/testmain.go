// Package testmain runs the tests of packages whose tests wait longer than they
// compute. Only tests import it.
package testmain

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

// parallel is the number of a package's tests that run concurrently.
const parallel = "8"

// Run runs a package's tests for its TestMain and finds the goroutines that they
// leak. Tests of servers and stores wait for deadlines, timeouts and processes, so
// that 8 of them run at once however few processors there are; -parallel overrides
// that.
func Run(m *testing.M, options ...goleak.Option) {
	if err := flag.Set("test.parallel", parallel); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, options...)
}
