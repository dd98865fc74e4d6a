package cli

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gridstand/gridstand/internal/testkit/script"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
)

// TestScripts runs testdata/script: the program as a process of its own, against a
// server in this one. Its bots move at once.
func TestScripts(t *testing.T) {
	t.Parallel()
	script.Run(t, name, actAsClient, func(tb testing.TB, env *testscript.Env) {
		config := servertest.Config(tb)
		config.BotPace = 0
		server, _ := servertest.Start(tb, config)
		env.Setenv(serverVariable, server.Addr().String())
		env.Setenv("USER", "ada")
	})
}
