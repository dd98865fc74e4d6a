package fault

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
)

// newSQLiteEnv returns an env on a new file, in a directory of its own. When the test
// and its servers have ended, it checks the store.
func newSQLiteEnv(t *testing.T) *env {
	t.Helper()
	return newFileEnv(t, filepath.Join(t.TempDir(), "store.db"))
}

// newFileEnv is newSQLiteEnv for the file of a path.
func newFileEnv(t *testing.T, path string) *env {
	t.Helper()
	env := newUncheckedFileEnv(t, path)
	t.Cleanup(func() { check(t, env) })
	return env
}

// newUncheckedFileEnv is newFileEnv for a test that leaves nothing to check.
func newUncheckedFileEnv(t *testing.T, path string) *env {
	t.Helper()
	if testing.Short() {
		t.Skip("breaks whole servers")
	}
	env := &env{t: t, url: "sqlite:" + path, observed: newObservations(), damaged: map[string]bool{}}
	env.ports = env.openFile
	t.Cleanup(func() { env.closeFile(t) })
	return env
}

// openFile opens the file of an env when it is needed: while the test has it open, a
// server that stops leaves the write-ahead log.
func (env *env) openFile() *store.Store {
	env.mu.Lock()
	defer env.mu.Unlock()
	if env.opened == nil {
		var err error
		env.opened, err = sqlite.Open(sqlite.Options{Path: env.path(), Beside: true})
		require.NoError(env.t, err)
	}
	return env.opened
}

// closeFile closes the file that openFile opened.
func (env *env) closeFile(t *testing.T) {
	t.Helper()
	env.mu.Lock()
	defer env.mu.Unlock()
	if env.opened != nil {
		assert.NoError(t, env.opened.Close())
		env.opened = nil
	}
}

// path is the file of an env on SQLite.
func (env *env) path() string { return strings.TrimPrefix(env.url, "sqlite:") }
