package sshhost

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Ensure that the host's key is created once, readable only by the user, and does not
// change.
func TestHostKey(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "new", "key")
	var all sync.WaitGroup
	keys := make([]string, 8)
	for i := range keys {
		all.Go(func() {
			key, err := HostKey(file)
			if assert.NoError(t, err) {
				keys[i] = string(key.PublicKey().Marshal())
			}
		})
	}
	all.Wait()
	for _, key := range keys {
		assert.Equal(t, keys[0], key)
	}
	info, err := os.Stat(file)
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		assert.Equal(t, os.FileMode(0o600), info.Mode())
	}
	entries, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	assert.Len(t, entries, 1)

	require.NoError(t, os.WriteFile(file, []byte("no key"), 0o600))
	_, err = HostKey(file)
	require.ErrorContains(t, err, file)
}
