// Package longtest excludes long tests from go test ./... and lets make test-long run them.
// Only tests import it.
package longtest

import (
	"os"
	"strings"
	"testing"
)

const (
	// variable is the environment variable that enables long tests. A flag would not work: go test
	// passes flags to the tests of every package, and most packages would not define it.
	variable = "TEST_LONG"

	// suffix is the suffix of every long test's name, so that -run can select long tests.
	suffix = "_long"
)

// Skip skips a long test unless long tests are enabled. A test is long if it takes more than about
// 5 s alone, or more than 10 s of processor time. Most tests with a browser, terminals, a cluster or
// killed servers are long, too. The name of a long test must end in _long.
func Skip(t testing.TB) {
	t.Helper()
	if !strings.HasSuffix(t.Name(), suffix) {
		t.Fatalf("the name of a long test must end in %s so that make test-long finds it", suffix)
	}
	if os.Getenv(variable) == "" {
		t.Skip("a long test: run make test-long, or set " + variable + "=1")
	}
}
