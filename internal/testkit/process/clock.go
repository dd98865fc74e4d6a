package process

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// offVariable says by how many seconds the clock of a program of BuildOff is
// off.
const offVariable = "TEST_CLOCK_OFF"

// Now in Go's package time, as it is and as BuildOff has it. The kernel's clock
// is everybody's, and a Go program does not ask libc for the time, so that
// nothing outside of it can tell it another one.
const (
	nowAsIs = "sec, nsec, mono := runtimeNow()\n"
	nowOff  = "sec, nsec, mono := runtimeNow()\n\tsec += clockOff\n"
	offFile = `package time

import "syscall"

var clockOff = func() (off int64) {
	value, _ := syscall.Getenv("` + offVariable + `")
	sign := int64(1)
	for _, c := range []byte(value) {
		if c == '-' {
			sign = -1
			continue
		}
		off = off*10 + int64(c-'0')
	}
	return off * sign
}()
`
)

// BuildOff is Build, but for a program whose wall clock is off by what Off says.
// It skips the test where Go's own sources are not there or not as expected.
func BuildOff(t testing.TB, program string) string {
	t.Helper()
	compiler, err := exec.LookPath("go")
	if err != nil {
		t.Skip("there is no go command to build " + program)
	}
	root, err := exec.Command(compiler, "env", "GOROOT").Output()
	if err != nil {
		t.Fatalf("asking go where it is: %v", err)
	}
	sources := filepath.Join(string(bytes.TrimSpace(root)), "src", "time")
	source, err := os.ReadFile(filepath.Join(sources, "time.go"))
	if err != nil || strings.Count(string(source), nowAsIs) != 1 {
		t.Skip("Go's package time is not as expected")
	}

	built.Lock()
	defer built.Unlock()
	name := program + "-off"
	if path, ok := built.paths[name]; ok {
		return path
	}
	dir, err := buildDir()
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := writeOverlay(dir, sources, map[string]string{
		"time.go":      strings.Replace(string(source), nowAsIs, nowOff, 1),
		"clock_off.go": offFile,
	})
	if err != nil {
		t.Fatal(err)
	}
	path, err := build(compiler, program, name, []string{"-overlay", overlay})
	if err != nil {
		t.Fatalf("building %s with another clock: %v", program, err)
	}
	return path
}

// writeOverlay writes what takes the place of files in a folder of sources, for
// go build -overlay.
func writeOverlay(dir, sources string, files map[string]string) (string, error) {
	replace := map[string]string{}
	for name, content := range files {
		path := filepath.Join(dir, "overlay-"+name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(sources, name)] = path
	}
	body, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", fmt.Errorf("overlay: %w", err)
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, body, 0o600)
}

// Off is the environment in which a program of BuildOff has a clock that is off.
func Off(by time.Duration) string {
	return offVariable + "=" + strconv.Itoa(int(by/time.Second))
}
