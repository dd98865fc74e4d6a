// Package script runs the scripts in testdata/script, which run one of this repository's programs
// as its users do. They are txtar files for testscript, one test each. Only tests import it.
package script

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// Run runs every script. In scripts, program is the test binary itself, with the variable asProgram
// in its environment; if it is set, the package's TestMain runs the program. setup prepares the
// environment of each script, for example with a server that stops when tb ends.
//
// In addition to testscript's commands, scripts have:
//
//	fails <code> <argument>...   run the program, which must exit with that code, print no
//	                             data and report the reason in a line that begins with its name
//	set <variable> [<length>]    set a variable to the previous standard output, or to its
//	                             first <length> characters
//	as <user>                    switch to another user with their own credentials
func Run(t *testing.T, program, asProgram string, setup func(tb testing.TB, env *testscript.Env)) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the program is a symbolic link")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, program)); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
			env.Setenv(asProgram, "1")
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, ".config"))
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, ".state"))
			env.Setenv("TERM", "xterm-256color")
			setup(env.T().(testing.TB), env)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fails": func(ts *testscript.TestScript, _ bool, args []string) { fails(ts, program, args) },
			"set": func(ts *testscript.TestScript, _ bool, args []string) {
				value := strings.TrimSpace(ts.ReadFile("stdout"))
				if len(args) > 1 {
					length, err := strconv.Atoi(args[1])
					ts.Check(err)
					value = value[:length]
				}
				ts.Setenv(args[0], value)
			},
			"as": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Setenv("USER", args[0])
				ts.Setenv("XDG_CONFIG_HOME", ts.MkAbs(filepath.Join(ts.Getenv("WORK"), ".config-"+args[0])))
			},
		},
	})
}

func fails(ts *testscript.TestScript, program string, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: fails <code> <argument>...")
	}
	err := ts.Exec(program, args[1:]...)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.String() != "exit status "+args[0] {
		ts.Fatalf("the program exited with %v, not with exit status %s", err, args[0])
	}
	if out := ts.ReadFile("stdout"); out != "" {
		ts.Fatalf("it printed data: %q", out)
	}
	reason, hint, _ := strings.Cut(ts.ReadFile("stderr"), "\n")
	if !strings.HasPrefix(reason, program+": ") || hint != "" && !strings.HasPrefix(hint, "Try: "+program) {
		ts.Fatalf("it did not report the reason in one line")
	}
}
