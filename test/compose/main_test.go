package compose

import (
	"flag"
	"testing"

	browsertest "github.com/gridstand/gridstand/internal/testkit/browser"
)

var compose = flag.Bool("compose", false, "bring the compose files up, with the Docker that is there")

func TestMain(m *testing.M) { browsertest.Run(m) }

func wantsDocker(t *testing.T) {
	t.Helper()
	if !*compose {
		t.Skip("brings up containers: run it with make compose-try")
	}
}
