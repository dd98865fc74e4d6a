//go:build slow

package compose

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	pinned   = regexp.MustCompile(`(?m)^([A-Z]+_IMAGE)=(\S+)@sha256:[0-9a-f]{64}$`)
	selected = regexp.MustCompile(`\$\{([A-Z]+_IMAGE):-([^}]+)\}`)
	fixed    = regexp.MustCompile(`(?m)^ARG ([A-Z]+_IMAGE)=(\S+)$`)
)

// Ensure that images.env has a digest for every image of the Dockerfile and the compose files, of
// the same version.
func TestImagesPinned(t *testing.T) {
	t.Parallel()
	read := func(name string, image *regexp.Regexp, into map[string]string) {
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, found := range image.FindAllStringSubmatch(string(content), -1) {
			into[found[1]] = found[2]
		}
	}
	used, digests := map[string]string{}, map[string]string{}
	files, err := filepath.Glob("../../docker-compose*.yml")
	require.NoError(t, err)
	for _, file := range files {
		read(file, selected, used)
	}
	read("../../Dockerfile", fixed, used)
	read("../../images.env", pinned, digests)
	assert.Len(t, used, 5)
	assert.Equal(t, used, digests)
}
