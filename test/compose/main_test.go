package compose

import (
	"flag"
	"testing"

	browsertest "github.com/gridstand/gridstand/internal/testkit/browser"
)

var compose = flag.Bool("compose", false, "start the compose files with the installed Docker")

func TestMain(m *testing.M) { browsertest.Run(m) }

func wantsDocker(t *testing.T) {
	t.Helper()
	if !*compose {
		t.Skip("starts containers: run it with make compose-try")
	}
}
