package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Ensure that systemd accepts every line of the shipped units.
func TestUnits(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	program, err := os.Executable()
	require.NoError(t, err)
	units, err := filepath.Glob(filepath.Join(root, "deploy", "*.service"))
	require.NoError(t, err)
	timers, err := filepath.Glob(filepath.Join(root, "deploy", "*.timer"))
	require.NoError(t, err)
	require.NotEmpty(t, units)
	// systemd-analyze requires that the programs exist.
	installed := strings.NewReplacer("/usr/local/bin/gridstand-server", program, "/usr/local/bin/gridstand", program)
	args, directory := []string{"verify", "--man=no"}, t.TempDir()
	for _, unit := range append(units, timers...) {
		text, err := os.ReadFile(unit)
		require.NoError(t, err)
		file := filepath.Join(directory, filepath.Base(unit))
		require.NoError(t, os.WriteFile(file, []byte(installed.Replace(string(text))), 0o600))
		args = append(args, file)
	}
	out, err := exec.CommandContext(t.Context(), analyze, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	// systemd-analyze only warns about options that it does not know.
	for line := range strings.Lines(string(out)) {
		assert.NotContains(t, line, directory)
	}
}

// Ensure that the server and the SSH host run with the same restrictions.
func TestUnits_Hardening(t *testing.T) {
	t.Parallel()
	restrictions := func(unit string) string {
		text, err := os.ReadFile(filepath.Join(root, "deploy", unit))
		require.NoError(t, err)
		_, found, _ := strings.Cut(string(text), "\nCapabilityBoundingSet=")
		found, _, _ = strings.Cut(found, "[Install]")
		return found
	}
	server := restrictions("gridstand-server.service")
	require.Contains(t, server, "\nProtectSystem=strict\n")
	assert.Equal(t, server, restrictions("gridstand-ssh-host.service"))
}

// Ensure that systemd keeps restarting a service that fails fast. By default it stops after five starts in ten
// seconds.
func TestUnits_Restart(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"gridstand-server.service", "gridstand-ssh-host.service"} {
		text, err := os.ReadFile(filepath.Join(root, "deploy", unit))
		require.NoError(t, err)
		section, _, _ := strings.Cut(string(text), "[Service]")
		assert.Contains(t, section, "\nStartLimitIntervalSec=0\n", unit)
	}
}
