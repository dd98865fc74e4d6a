package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	accounts "github.com/gridstand/gridstand/server/account"
)

// Ensure no player is called like a command, of which a list of people would make
// another sentence.
func TestCommandsAreReserved(t *testing.T) {
	t.Parallel()
	commands := (&program{}).command().Commands()
	assert.NotEmpty(t, commands)
	for _, command := range commands {
		assert.True(t, accounts.Reserved(command.Name()), command.Name())
		for _, alias := range command.Aliases {
			assert.True(t, accounts.Reserved(alias), alias)
		}
	}
}
