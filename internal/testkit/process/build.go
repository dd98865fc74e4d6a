package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// module is the module path. With it, go build finds the programs from any directory.
const module = "github.com/gridstand/gridstand/"

var built struct {
	sync.Mutex
	dir   string
	paths map[string]string
}

// Build returns the path of one of the module's programs, such as "cmd/gridstand-server". The
// program is built once per test binary, with the race detector if the tests use it; RemoveBuilt
// removes it. Build skips the test if there is no go command.
func Build(t testing.TB, program string) string {
	t.Helper()
	compiler, err := exec.LookPath("go")
	if err != nil {
		t.Skip("found no go command to build " + program)
	}
	built.Lock()
	defer built.Unlock()
	if path, ok := built.paths[program]; ok {
		return path
	}
	if built.dir == "" {
		dir, err := os.MkdirTemp("", "gridstand-test-") //nolint:usetesting // the folder outlives the test
		require.NoError(t, err)
		built.dir, built.paths = dir, map[string]string{}
	}
	path := filepath.Join(built.dir, program)
	args := []string{"build", "-buildvcs=false", "-ldflags=-s -w", "-o", path}
	if Race {
		args = append(args, "-race")
	}
	out, err := exec.Command(compiler, append(args, module+program)...).CombinedOutput()
	require.NoError(t, err, "building %s: %s", program, out)
	built.paths[program] = path
	return path
}

// RemoveBuilt removes all built programs. Call it after all tests.
func RemoveBuilt() {
	built.Lock()
	defer built.Unlock()
	_ = os.RemoveAll(built.dir)
	built.dir, built.paths = "", nil
}
