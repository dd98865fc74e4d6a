//go:build slow

package compose

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestImage covers the image on its own, without settings: it keeps games in its volume, the only
// place that it can write to.
func TestImage(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	require.NoError(t, os.WriteFile(s.added, []byte("services:\n  server: {}\n"), 0o600))
	s.compose("build", "server")
	name := s.project + "-alone" // name of the container and its volume
	t.Cleanup(func() {
		if t.Failed() {
			out, _ := tryDocker("logs", "--tail", "40", name)
			t.Log(out)
		}
		_, _ = tryDocker("rm", "-f", "--volumes", name)
		_, _ = tryDocker("volume", "rm", name)
	})
	run := func() {
		docker(t, "run", "-d", "--name", name, "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges:true",
			"--volume", name+":/data", "--publish", s.address()+":2048", "gridstand-server")
		becomesHealthy(t, name)
	}
	run()
	harmless(t, "server", docker(t, "inspect", "-f", "{{.Id}}", name), []int{2048}, "/data")

	p := begin(t, s.address())
	p.goesOn("begin")
	docker(t, "kill", "-s", "KILL", name)
	docker(t, "start", name)
	p.goesOn("SIGKILL")
	docker(t, "rm", "-f", name)
	run()
	p.goesOn("another container with the volume")
	p.end()
	p.check(s.address())
}

// Ensure that a release's image runs the same binary as in the release's archive.
func TestImage_Released(t *testing.T) {
	wantsDocker(t)
	t.Parallel()
	server := "gridstand-server_" + runtime.GOOS + "_" + runtime.GOARCH
	built, err := filepath.Glob("../../dist/" + server + "*/gridstand-server")
	require.NoError(t, err)
	if len(built) == 0 {
		t.Skip("needs the files of a release: run make snapshot first")
	}
	binary, err := os.ReadFile(built[0])
	require.NoError(t, err)
	dockerfile, err := os.ReadFile("../../Dockerfile")
	require.NoError(t, err)
	files := t.TempDir() // in goreleaser's layout
	platform := filepath.Join(files, runtime.GOOS, runtime.GOARCH)
	require.NoError(t, os.MkdirAll(platform, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(platform, "gridstand-server"), binary, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(files, "Dockerfile"), dockerfile, 0o600))

	image := fmt.Sprintf("gridstand-released-%d", os.Getpid())
	args := []string{"build", "--quiet", "--tag", image, "--build-arg", "BINARIES=released"}
	if from := os.Getenv("GO_IMAGE"); from != "" {
		args = append(args, "--build-arg", "GO_IMAGE="+from)
	}
	docker(t, append(args, files)...)
	t.Cleanup(func() { _, _ = tryDocker("rmi", "-f", image) })

	want, err := exec.Command(built[0], "--version").Output()
	require.NoError(t, err)
	assert.Equal(t, strings.TrimSpace(string(want)), docker(t, "run", "--rm", image, "--version"))
	assert.Regexp(t, `^gridstand-server v\d+\.\d+\.\d+`, string(want))
	container := docker(t, "create", image)
	t.Cleanup(func() { _, _ = tryDocker("rm", "-f", container) })
	inside := filepath.Join(t.TempDir(), "gridstand-server")
	docker(t, "cp", container+":/gridstand-server", inside)
	copied, err := os.ReadFile(inside)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(binary, copied), "the image has another binary")
}
