package cli

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gridstand/gridstand/internal/testkit/script"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
)

// TestScripts runs testdata/script with the program in a separate process, and a server
// in this process whose bots move immediately.
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
