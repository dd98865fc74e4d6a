//go:build slow

package compose

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/testkit/process"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

const (
	// root is the root of the repository, which contains the compose files.
	root = "../.."
	// buildTime is the timeout for fetching and building images.
	buildTime = 15 * time.Minute
)

// settings holds the server's environment variables.
type settings map[string]string

// stack is a set of compose files under its own project name.
type stack struct {
	t       *testing.T
	project string
	files   []string
	added   string // a file with the settings
	port    string // port for players
	sshPort string // port for SSH clients
}

// newStack prepares the compose files without starting anything. They are taken down when the
// test ends. It skips the test unless -compose is set.
func newStack(t *testing.T, files ...string) *stack {
	t.Helper()
	wantsDocker(t)
	dir := t.TempDir()
	s := &stack{
		t: t, project: strings.ToLower(t.Name()) + "-" + fmt.Sprint(os.Getpid()),
		files: []string{"docker-compose.yml"}, added: filepath.Join(dir, "settings.yml"), port: process.FreePort(t),
		sshPort: process.FreePort(t),
	}
	s.files = append(s.files, files...)
	for i, file := range s.files {
		s.files[i] = readable(t, file, dir, slices.Contains(files, "docker-compose.scale.yml"))
	}
	s.files = append(s.files, s.added)
	t.Cleanup(func() {
		if t.Failed() {
			for _, args := range [][]string{{"ps"}, {"logs", "--tail", "40"}} {
				out, _ := s.try(args...)
				t.Logf("compose %s:\n%s", args[0], out)
			}
		}
		out, err := s.try("down", "-v", "--timeout", "5")
		assert.NoError(t, err, "%s", out)
	})
	return s
}

func (s *stack) try(args ...string) (string, error) {
	// Not the test's context: the cleanup must still take the stack down.
	ctx, cancel := context.WithTimeout(context.Background(), buildTime)
	defer cancel()
	all := []string{"--project-directory", ".", "-p", s.project}
	for _, file := range s.files {
		all = append(all, "-f", file)
	}
	command := exec.CommandContext(ctx, "scripts/compose.sh", append(all, args...)...)
	command.Dir = root
	command.Env = append(os.Environ(), "GRIDSTAND_PORT="+s.address(), "GRIDSTAND_SSH_PORT=127.0.0.1:"+s.sshPort, "COMPOSE_HTTP_TIMEOUT=600")
	out, err := command.CombinedOutput()
	return string(out), err
}

// compose runs a Compose command.
func (s *stack) compose(args ...string) string {
	s.t.Helper()
	out, err := s.try(args...)
	require.NoError(s.t, err, "compose %v:\n%s", args, out)
	return out
}

// docker runs a Docker command and returns its output.
func docker(t *testing.T, args ...string) string {
	t.Helper()
	out, err := tryDocker(args...)
	require.NoError(t, err, "%s", out)
	return out
}

func tryDocker(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), waittest.Patience)
	defer cancel()
	var diagnostics strings.Builder
	command := exec.CommandContext(ctx, "docker", args...)
	command.Stderr = &diagnostics
	out, err := command.Output()
	if err != nil {
		err = fmt.Errorf("docker %s: %w: %s", strings.Join(args, " "), err, &diagnostics)
	}
	return strings.TrimSpace(string(out)), err
}

// address returns the address that players connect to.
func (s *stack) address() string { return "127.0.0.1:" + s.port }

// up starts the stack with the given settings, replaces servers that have different settings,
// and waits until all servers are healthy.
func (s *stack) up(with settings, args ...string) {
	s.t.Helper()
	lines := []string{"services:", "  server:", "    environment:"}
	if len(with) == 0 {
		lines[2] += " {}"
	}
	for name, value := range with {
		lines = append(lines, fmt.Sprintf("      %s: %q", name, value))
	}
	require.NoError(s.t, os.WriteFile(s.added, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	s.compose(append([]string{"up", "-d"}, args...)...)
	s.healthy("server")
}

// containers returns the ids of a service's containers.
func (s *stack) containers(service string) []string {
	s.t.Helper()
	ids := strings.Fields(docker(s.t, "ps", "-aq", "--no-trunc",
		"--filter", "label=com.docker.compose.project="+s.project,
		"--filter", "label=com.docker.compose.service="+service))
	require.NotEmpty(s.t, ids, "containers of %s", service)
	return ids
}

// healthy waits until the containers of a service are healthy.
func (s *stack) healthy(service string) {
	s.t.Helper()
	for _, id := range s.containers(service) {
		becomesHealthy(s.t, id)
	}
}

// becomesHealthy waits until a container is healthy.
func becomesHealthy(t *testing.T, container string) {
	t.Helper()
	waittest.Until(t, "container "+container+" is healthy", func() bool {
		state, err := tryDocker("inspect", "-f", "{{.State.Health.Status}}", container)
		return err == nil && state == "healthy"
	})
}

// reach returns the address of a container on the default network, for ports that are not
// published.
func (s *stack) reach(container, port string) string {
	s.t.Helper()
	ip := docker(s.t, "inspect", "-f", `{{(index .NetworkSettings.Networks "`+s.project+`_default").IPAddress}}`, container)
	require.NotEmpty(s.t, ip)
	return net.JoinHostPort(ip, port)
}

// dial returns a client for a server.
func dial(t *testing.T, address string) *client.Client {
	t.Helper()
	return servertest.Client(t, client.Config{Target: address})
}

// readable returns the name of a compose file that the installed Compose can read. Compose 1,
// which some distributions still ship, does not know !reset. If another file resets the
// server's ports, readable therefore returns a copy without the ports and the reset.
func readable(t *testing.T, name, dir string, reset bool) string {
	t.Helper()
	if !reset || exec.Command("docker", "compose", "version").Run() == nil {
		return name
	}
	content, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	const published = "    ports:\n      - \"${GRIDSTAND_PORT:-2048}:2048\"\n    networks:"
	text := strings.Replace(string(content), published, "    networks:", 1)
	text = strings.Replace(text, "    ports: !reset []\n", "", 1)
	require.NotEqual(t, string(content), text, "%s has an unexpected form", name)
	copied := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(copied, []byte(text), 0o600))
	return copied
}
