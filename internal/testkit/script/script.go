// Package script runs the scripts in testdata/script, which run one of this repository's programs
// as its users do. They are txtar files for testscript, one test each. Only tests import it.
package script

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

// Call runs a program inside the test's process, which takes far less processor time than another
// process. It returns the exit code. The program reads the variables that it needs with getenv,
// reads nothing from standard input, and finds no files of the script.
type Call func(getenv func(name string) string, stdout, stderr io.Writer, args []string) int

// Run runs every script. In scripts, exec <program> runs the test binary itself, with the variable
// asProgram in its environment; if it is set, the package's TestMain runs the program. setup prepares
// the environment of each script, for example with a server that stops when tb ends.
//
// In addition to testscript's commands, scripts have:
//
//	fails <code> <argument>...       run the program, which must exit with that code, print no
//	                                 data and report the reason in a line that begins with its
//	                                 name
//	call <argument>...               run the program inside the test's process; it must succeed
//	callfails <code> <argument>...   like fails, but inside the test's process
//	set <variable> [<length>]        set a variable to the previous standard output, or to its
//	                                 first <length> characters
//	as <user>                        switch to another user with their own credentials
func Run(t *testing.T, program, asProgram string, call Call, setup func(tb testing.TB, env *testscript.Env)) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the program is a symbolic link")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	bin := t.TempDir()
	require.NoError(t, os.Symlink(self, filepath.Join(bin, program)))
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
			"call": func(ts *testscript.TestScript, _ bool, args []string) {
				if code := call(ts.Getenv, ts.Stdout(), ts.Stderr(), args); code != 0 {
					ts.Fatalf("the program exited with %d", code)
				}
			},
			"fails": func(ts *testscript.TestScript, _ bool, args []string) {
				code, err := 0, ts.Exec(program, args[1:]...)
				if exit, ok := errors.AsType[*exec.ExitError](err); ok {
					code = exit.ExitCode()
				}
				checkFailure(ts, program, args[0], code, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
			},
			"callfails": func(ts *testscript.TestScript, _ bool, args []string) {
				var out, errs strings.Builder
				code := call(ts.Getenv, io.MultiWriter(&out, ts.Stdout()), io.MultiWriter(&errs, ts.Stderr()), args[1:])
				checkFailure(ts, program, args[0], code, out.String(), errs.String())
			},
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

// checkFailure checks that the program exited with a code and reported the reason as it promises.
func checkFailure(ts *testscript.TestScript, program, want string, code int, stdout, stderr string) {
	if strconv.Itoa(code) != want {
		ts.Fatalf("the program exited with %d, not with %s", code, want)
	}
	if stdout != "" {
		ts.Fatalf("it printed data: %q", stdout)
	}
	reason, hint, _ := strings.Cut(stderr, "\n")
	if !strings.HasPrefix(reason, program+": ") || hint != "" && !strings.HasPrefix(hint, "Try: "+program) {
		ts.Fatalf("it did not report the reason in one line")
	}
}
