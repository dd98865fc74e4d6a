package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Ensure that the server rejects account names that are also commands, because such a name
// could be mistaken for the command.
func TestCommands_Reserved(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	server := someServer(t)
	commands := (&program{}).command().Commands()
	assert.NotEmpty(t, commands)
	for _, command := range commands {
		for _, name := range append([]string{command.Name()}, command.Aliases...) {
			newUser(t, server, name).fails(exitFailed, "reserved", "--name", name, "new")
		}
	}
}
