package main

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Ensure that the server has the files that make generate would write.
func TestMinify_Current(t *testing.T) {
	t.Parallel()
	fresh := t.TempDir()
	require.NoError(t, minify("../../server/internal/web/site", fresh))
	digests := func(dir string) map[string][sha256.Size]byte {
		all := map[string][sha256.Size]byte{}
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, e := range entries {
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			require.NoError(t, err)
			all[e.Name()] = sha256.Sum256(data)
		}
		return all
	}
	assert.Equal(t, digests(fresh), digests("../../server/internal/web/assets"), "run make generate")
}
