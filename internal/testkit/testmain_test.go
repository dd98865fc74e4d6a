// Package testkit_test tests those packages of this folder that need only the standard library and
// few others, in one program.
package testkit_test

import (
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"

	"github.com/gridstand/gridstand/internal/testkit/process"
	"github.com/gridstand/gridstand/internal/testkit/testmain"
)

func TestMain(m *testing.M) {
	testmain.Run(m, goleak.Cleanup(func(code int) {
		process.RemoveBuilt()
		os.Exit(code)
	}))
}

func TestTestmain_Run(t *testing.T) {
	t.Parallel()
	assert.NotNil(t, flag.Lookup("test.parallel"))
}
