package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/internal/names"
	helptest "github.com/gridstand/gridstand/internal/testkit/help"
)

func TestHelp(t *testing.T) {
	t.Parallel()
	helptest.Check(t, new(program).command())
}

// Ensure that no new account can have the name of a command, because it could be mistaken for it.
func TestCommands_Reserved(t *testing.T) {
	t.Parallel()
	for _, command := range new(program).command().Commands() {
		for _, name := range append([]string{command.Name()}, command.Aliases...) {
			assert.True(t, names.Reserved(name), name)
		}
	}
}
