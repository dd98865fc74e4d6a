package cli

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	processtest "github.com/gridstand/gridstand/internal/testkit/process"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/internal/testkit/script"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	"github.com/gridstand/gridstand/server"
)

// TestScripts runs the scripts in testdata/script. $STORE is the URL of a Redis server,
// $RUNNING is the store of a running server, which is a file, and $TAKEN is an address
// where something other than a server is listening.
func TestScripts(t *testing.T) {
	t.Parallel()
	script.Run(t, name, asServer, nil, func(tb testing.TB, env *testscript.Env) {
		env.Setenv("TAKEN", processtest.Listen(tb).Addr().String())
		c := servertest.Config(tb)
		c.Store = server.File(filepath.Join(env.WorkDir, "running.db"))
		servertest.Start(tb, c)
		env.Setenv("RUNNING", c.Store)
		env.Setenv("STORE", "redis://"+redistest.StartMiniredis(tb).Addr())
	})
}
