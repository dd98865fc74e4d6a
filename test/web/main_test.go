package web

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	browsertest "github.com/gridstand/gridstand/internal/testkit/browser"
	"github.com/gridstand/gridstand/internal/testkit/process"
)

func TestMain(m *testing.M) {
	browsertest.Run(m, goleak.Cleanup(func(code int) {
		process.RemoveBuilt()
		os.Exit(code)
	}))
}
