package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/internal/names"
	helptest "github.com/gridstand/gridstand/internal/testkit/help"
)

func TestHelp(t *testing.T) {
	t.Parallel()
	root := new(program).command()
	helptest.Check(t, root)
	assert.LessOrEqual(t, strings.Count(root.Long+"\n\n"+root.UsageString(), "\n"), 40)
	for line := range strings.Lines(sshHelp("ssh -p 2222 -t play.example")) {
		assert.LessOrEqual(t, utf8.RuneCountInString(line), 80, line)
	}
}

// Ensure that no new account can have the name of a command, because it could be mistaken for it.
func TestCommands_Reserved(t *testing.T) {
	t.Parallel()
	for _, command := range new(program).command().Commands() {
		assert.True(t, names.Reserved(command.Name()), command.Name())
	}
}
