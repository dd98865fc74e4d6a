package cli

import (
	"testing"

	helptest "github.com/gridstand/gridstand/internal/testkit/help"
)

func TestHelp(t *testing.T) {
	t.Parallel()
	helptest.Check(t, new(program).command())
}
