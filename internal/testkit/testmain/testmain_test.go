package testmain_test

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/internal/testkit/testmain"
)

func TestMain(m *testing.M) { testmain.Run(m) }

func TestRun(t *testing.T) {
	t.Parallel()
	assert.NotNil(t, flag.Lookup("test.parallel"))
}
