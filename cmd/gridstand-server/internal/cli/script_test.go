package cli

import (
	"net"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

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
		taken, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(tb, err)
		tb.Cleanup(func() { _ = taken.Close() })
		env.Setenv("TAKEN", taken.Addr().String())
		c := servertest.Config(tb)
		c.Store = server.File(filepath.Join(env.WorkDir, "running.db"))
		servertest.Start(tb, c)
		env.Setenv("RUNNING", c.Store)
		env.Setenv("STORE", "redis://"+redistest.StartMiniredis(tb).Addr())
	})
}
