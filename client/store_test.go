package client_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func TestStore_ReadableByOwnerOnly(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "config")
	path := filepath.Join(dir, "credentials.json")
	require.NoError(t, client.NewStore(path).Save("x:1", client.Credential{Name: "ada"}))
	modes := func() (os.FileMode, os.FileMode) {
		d, err := os.Stat(dir)
		require.NoError(t, err)
		f, err := os.Stat(path)
		require.NoError(t, err)
		return d.Mode().Perm(), f.Mode().Perm()
	}
	d, f := modes()
	assert.Equal(t, os.FileMode(0o700), d)
	assert.Equal(t, os.FileMode(0o600), f)

	// The next Save makes a file private even if others could read it before.
	require.NoError(t, os.Chmod(path, 0o644))
	require.NoError(t, client.NewStore(path).Save("y:1", client.Credential{Name: "ada"}))
	_, f = modes()
	assert.Equal(t, os.FileMode(0o600), f)
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, files, 1)
}

func TestStore_ConcurrentWriters(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "credentials.json")
	one := client.NewStore(path)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			target := fmt.Sprintf("x:%d", i+1)
			assert.NoError(t, one.Save(target, client.Credential{Name: target}))
		})
		wg.Go(func() { // as another process would
			other := client.NewStore(path)
			assert.NoError(t, other.Save("y:1", client.Credential{Name: "ada"}))
			_, _, err := other.Load("y:1")
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	_, _, err := one.Load("y:1")
	assert.NoError(t, err)
}

func TestDefaultStore_InConfigDirectory(t *testing.T) {
	t.Parallel()
	path := client.DefaultStore().Path()
	assert.Equal(t, filepath.Join("gridstand", "credentials.json"),
		filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path)))
}

// Ensure that an account is not created if its token could not be stored: without a home
// directory, xdg would name a directory at the root of the file system.
func TestDefaultStore_WithoutHome(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no HOME")
	}
	t.Setenv("HOME", "")
	t.Setenv("XDG_CONFIG_HOME", "")
	store := client.DefaultStore()
	assert.Empty(t, store.Path())
	_, found, err := store.Load("localhost:2048")
	require.NoError(t, err)
	assert.False(t, found)
	require.ErrorContains(t, store.Save("localhost:2048", client.Credential{Name: "ada"}), "set HOME or XDG_CONFIG_HOME")

	server := newAccounts(pb.Storage_STORAGE_DURABLE)
	_, _, err = client.LogIn(t.Context(), dial(t, client.Config{Target: server.start(t)}), store, "ada")
	require.ErrorContains(t, err, "set HOME or XDG_CONFIG_HOME")
	assert.Empty(t, server.players)
}
