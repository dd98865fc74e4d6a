//go:build slow

package compose

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/gridstand/gridstand/server/limits"
)

// service is the part of a service in a compose file that bounds the resources of its container.
type service struct {
	Image       string
	Command     []string
	Environment map[string]string
	MemLimit    string `yaml:"mem_limit"`
	PidsLimit   int    `yaml:"pids_limit"`
	Logging     struct {
		Driver  string
		Options map[string]string
	}
	Restart string
}

// services returns the services of all compose files, by name. A service that several files mention is
// read from the one that names its image.
func services(t *testing.T) map[string]service {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "docker-compose*.yml"))
	require.NoError(t, err)
	all := map[string]service{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		var stack struct{ Services map[string]service }
		require.NoError(t, yaml.Unmarshal(content, &stack), file)
		for name, s := range stack.Services {
			if s.Image != "" {
				require.NotContains(t, all, name, file)
				all[name] = s
			}
		}
	}
	return all
}

var size = regexp.MustCompile(`^(?i)(\d+)([kmg])i?b?$`)

// bytesOf parses a size as Compose, Redis and the Go runtime write it.
func bytesOf(t *testing.T, text string) int {
	t.Helper()
	parts := size.FindStringSubmatch(text)
	require.NotNil(t, parts, "%q is not a size", text)
	n, err := strconv.Atoi(parts[1])
	require.NoError(t, err)
	return n << (10 * (1 + strings.Index("kmg", strings.ToLower(parts[2]))))
}

// Ensure that no container of the compose files can use up its machine's memory, processes or disk,
// that the garbage collector keeps a server below the memory of its container, and that a full Redis
// refuses writes before its container runs out of memory, even while it copies its data.
func TestLimits(t *testing.T) {
	t.Parallel()
	all := services(t)
	for _, name := range []string{"server", "redis", "proxy", "ssh-host", "ssh-credential", "prometheus", "grafana"} {
		assert.Contains(t, all, name)
	}
	for name, s := range all {
		t.Log(name)
		memory := bytesOf(t, s.MemLimit)
		assert.Positive(t, memory)
		assert.Positive(t, s.PidsLimit)
		assert.Equal(t, "json-file", s.Logging.Driver)
		assert.Equal(t, map[string]string{"max-size": "10m", "max-file": "3"}, s.Logging.Options)
		// Services that run to completion use little memory.
		if strings.HasPrefix(s.Image, "gridstand-") && s.Restart != "" {
			limit := bytesOf(t, s.Environment["GOMEMLIMIT"])
			assert.Greater(t, limit, memory/2)
			assert.Less(t, limit, memory*9/10, "the limit does not include memory that Go does not manage")
		}
	}

	redis := all["redis"]
	option := func(name string) string {
		at := slices.Index(redis.Command, name)
		require.NotEqual(t, -1, at, name)
		require.Less(t, at+1, len(redis.Command), name)
		return redis.Command[at+1]
	}
	assert.Equal(t, "noeviction", option("--maxmemory-policy"))
	assert.Greater(t, bytesOf(t, redis.MemLimit), 2*bytesOf(t, option("--maxmemory")))
}

// Ensure that a connection to the proxy may have as many streams as one to a server.
func TestLimits_Streams(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join(root, "deploy", "haproxy.cfg"))
	require.NoError(t, err)
	assert.Contains(t, string(content), fmt.Sprintf("tune.h2.max-concurrent-streams %d\n", limits.Default()[limits.StreamsPerConnection]))
}
