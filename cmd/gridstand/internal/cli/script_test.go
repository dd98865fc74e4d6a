package cli

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/testkit/script"
)

// TestScripts runs testdata/script with the program in this process or a separate one, and a server
// in this process whose bots move immediately.
func TestScripts(t *testing.T) {
	t.Parallel()
	call := func(getenv func(string) string, stdout, stderr io.Writer, args []string) int {
		u := person{
			server: getenv(serverVariable), name: getenv("USER"), state: filepath.Join(getenv("XDG_STATE_HOME"), "gridstand", "local"),
			store: client.NewStore(filepath.Join(getenv("XDG_CONFIG_HOME"), "gridstand", "credentials.json")),
			in:    strings.NewReader(""),
		}
		return u.program(stdout, stderr).run(t.Context(), args)
	}
	script.Run(t, name, actAsClient, call, func(tb testing.TB, env *testscript.Env) {
		env.Setenv(serverVariable, someServer(tb))
		env.Setenv("USER", "ada")
	})
}
