// Package longtest keeps long tests out of go test ./... and lets make test-long
// run them. Only tests import it.
package longtest

import (
	"os"
	"strings"
	"testing"
)

const (
	// variable in the environment asks for the long tests. A flag would not do:
	// go test passes flags to every package's tests, and most would not know it.
	variable = "TEST_LONG"

	// suffix ends the name of every long test, so that -run can select them.
	suffix = "_long"
)

// Skip skips a long test unless long tests are asked for. Long is what takes
// more than about 5 s alone, or more than 10 s of processor time. The name of the
// test must end in _long.
func Skip(t testing.TB) {
	t.Helper()
	if !strings.HasSuffix(t.Name(), suffix) {
		t.Fatalf("the name of a long test ends in %s, or make test-long does not find it", suffix)
	}
	if os.Getenv(variable) == "" {
		t.Skip("a long test: run make test-long, or set " + variable + "=1")
	}
}
