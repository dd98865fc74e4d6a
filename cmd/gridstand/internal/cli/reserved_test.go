package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Ensure that a server refuses an account named like a command, which would make
// another sentence of a list of players.
func TestCommands_Reserved(t *testing.T) {
	t.Parallel()
	server := someServer(t)
	commands := (&program{}).command().Commands()
	assert.NotEmpty(t, commands)
	for _, command := range commands {
		for _, name := range append([]string{command.Name()}, command.Aliases...) {
			newUser(t, server, name).fails(exitFailed, "reserved", "--name", name, "new")
		}
	}
}
