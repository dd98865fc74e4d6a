package operator

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/testmain"
)

func TestMain(m *testing.M) { testmain.Run(m) }

// Ensure that a command does not give the name to the unfinished file of another one, and that
// neither it nor a command that was killed leaves anything. Other files stay.
func TestCreateFile_Twice(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "backup.db")
	other := name + ".partial.gz"
	for _, file := range []string{name + ".partial-1", other} {
		require.NoError(t, os.WriteFile(file, nil, 0o600))
	}
	begun, second, end := make(chan struct{}), make(chan error), make(chan struct{})
	require.Error(t, createFile(name, func(*os.File) error {
		go func() {
			second <- createFile(name, func(f *os.File) error {
				assert.NoError(t, os.WriteFile(f.Name()+"-journal", nil, 0o600)) // as SQLite does, which leaves it if the disk is full
				close(begun)
				<-end
				_, err := f.WriteString("second")
				return err
			})
		}()
		<-begun
		return nil
	}))
	assert.NoFileExists(t, name)
	close(end)
	require.NoError(t, <-second)
	files, err := filepath.Glob(name + "*")
	require.NoError(t, err)
	assert.Equal(t, []string{name, other}, files)
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, "second", string(content))
}

// Ensure that what a killed command has left goes with a later command of another name, but not what one
// that may still run has made.
func TestCreateFile_Killed(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	for name, age := range map[string]time.Duration{"monday.db": 25 * time.Hour, "today.db": time.Hour} {
		partial, changed := filepath.Join(directory, name+".partial-1"), time.Now().Add(-age)
		require.NoError(t, os.Mkdir(partial, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(partial, name), nil, 0o600))
		require.NoError(t, os.Chtimes(filepath.Join(partial, name), changed, changed))
	}
	require.NoError(t, createFile(filepath.Join(directory, "now.db"), func(*os.File) error { return nil }))
	assert.NoDirExists(t, filepath.Join(directory, "monday.db.partial-1"))
	assert.DirExists(t, filepath.Join(directory, "today.db.partial-1"))
}
