//go:build slow

package compose

import (
	"cmp"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// inside returns the kernel's data about a container's first process: the lines of the files in its
// /proc directory, keyed by name. A helper container reads them, because the container itself may
// have no program to do so.
func inside(t *testing.T, container string) map[string][]string {
	t.Helper()
	const read = `cd /proc/1 && for file; do echo "$file:" && cat "$file"; done`
	names := []string{"status", "mountinfo", "net/tcp", "net/tcp6"}
	args := []string{
		"run", "--rm", "--pid", "container:" + container, "--user", "0", "--cap-add", "SYS_PTRACE",
		"--entrypoint", "sh", cmp.Or(os.Getenv("REDIS_IMAGE"), "redis:8"), "-euc", read, "sh",
	}
	files, file := map[string][]string{}, ""
	for line := range strings.Lines(docker(t, append(args, names...)...)) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutSuffix(line, ":"); ok && slices.Contains(names, name) {
			file = name
			continue
		}
		files[file] = append(files[file], line)
	}
	return files
}

// harmless checks the permissions of a container, and that it accepts connections only on the
// given ports and can write only to the given paths.
func harmless(t *testing.T, service, container string, ports []int, writable ...string) {
	t.Helper()
	files := inside(t, container)
	status := map[string][]string{}
	for _, line := range files["status"] {
		name, value, _ := strings.Cut(line, ":")
		status[name] = strings.Fields(value)
	}
	for _, ids := range []string{"Uid", "Gid"} {
		require.Len(t, status[ids], 4, "%s: %s", service, ids)
		assert.NotContains(t, status[ids], "0", "%s: %s", service, ids)
	}
	for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
		assert.Equal(t, []string{"0000000000000000"}, status[set], "%s: %s", service, set)
	}
	assert.Equal(t, []string{"1"}, status["NoNewPrivs"], "%s: NoNewPrivs", service)

	var places []string
	var root bool
	for _, line := range files["mountinfo"] {
		fields := strings.Fields(line)
		require.Greater(t, len(fields), 5)
		at, options := fields[4], strings.Split(fields[5], ",")
		root = root || at == "/"
		switch top, _, _ := strings.Cut(at[1:], "/"); top {
		case "proc", "sys", "dev": // the kernel's own
			continue
		}
		if !slices.Contains(options, "ro") {
			places = append(places, at)
		}
	}
	assert.True(t, root, "%s: the root is not among the mounts", service)
	assert.ElementsMatch(t, writable, places, "%s: writable paths", service)
	assert.ElementsMatch(t, ports, listening(t, files), "%s: open ports", service)
}

// listening returns the TCP ports on which a container accepts connections, except that of Docker's
// DNS server.
func listening(t *testing.T, files map[string][]string) []int {
	t.Helper()
	const listen, nameServer = "0A", "0B00007F"
	found := map[int]bool{}
	for _, line := range append(files["net/tcp"], files["net/tcp6"]...) {
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[3] != listen {
			continue
		}
		host, port, _ := strings.Cut(fields[1], ":")
		if host == nameServer {
			continue
		}
		n, err := strconv.ParseInt(port, 16, 32)
		require.NoError(t, err)
		found[int(n)] = true
	}
	return slices.Collect(maps.Keys(found))
}
