//go:build slow

package compose

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

var compose = flag.Bool("compose", false, "start the compose files with the installed Docker")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// wantsDocker skips a test that starts containers unless -compose is set.
func wantsDocker(t *testing.T) {
	t.Helper()
	if !*compose {
		t.Skip("starts containers: run it with make compose-try")
	}
}
