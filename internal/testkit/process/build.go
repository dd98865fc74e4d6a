package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// module is the import path under which the programs are found from any directory.
const module = "github.com/gridstand/gridstand/"

var built struct {
	sync.Mutex
	dir   string
	paths map[string]string
}

// Build returns the path of one of the module's programs, such as "cmd/gridstand-server",
// built as the tests are, with or without the race detector. It is built once
// for the whole test binary; RemoveBuilt removes it. It skips the test if
// there is no go command, and with -short.
func Build(t testing.TB, program string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs the program " + program + " built")
	}
	compiler, err := exec.LookPath("go")
	if err != nil {
		t.Skip("there is no go command to build " + program)
	}
	built.Lock()
	defer built.Unlock()
	if path, ok := built.paths[program]; ok {
		return path
	}
	var options []string
	if Race {
		options = append(options, "-race")
	}
	path, err := build(compiler, program, program, options)
	if err != nil {
		t.Fatalf("building %s: %v", program, err)
	}
	return path
}

// build builds a program and notes it under a name.
func build(compiler, program, name string, options []string) (string, error) {
	dir, err := buildDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name)
	args := append([]string{"build", "-buildvcs=false", "-o", path}, options...)
	if out, err := exec.Command(compiler, append(args, module+program)...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	built.paths[name] = path
	return path, nil
}

func buildDir() (string, error) {
	if built.dir == "" {
		dir, err := os.MkdirTemp("", "gridstand-test-")
		if err != nil {
			return "", err
		}
		built.dir, built.paths = dir, map[string]string{}
	}
	return built.dir, nil
}

// RemoveBuilt removes what Build built, after all tests.
func RemoveBuilt() {
	built.Lock()
	defer built.Unlock()
	_ = os.RemoveAll(built.dir)
	built.dir, built.paths = "", nil
}
