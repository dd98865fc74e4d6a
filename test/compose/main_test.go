package compose

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

var compose = flag.Bool("compose", false, "bring the compose files up, with the Docker that is there")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func wantsDocker(t *testing.T) {
	t.Helper()
	if !*compose {
		t.Skip("brings up containers: run it with make compose-try")
	}
}
