//go:build slow

package fault

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
)

// newSQLiteEnv returns an env on a new file in its own directory. It checks the store once the
// test and its servers have ended.
func newSQLiteEnv(t *testing.T) *env {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	env := &env{t: t, url: "sqlite:" + path, observed: newObservations(), damaged: map[string]bool{}}
	env.ports = env.openFile
	t.Cleanup(func() { env.closeFile(t) })
	t.Cleanup(func() { check(t, env) })
	return env
}

// openFile opens env's database file on first use. While the test has the file open, a server
// that stops does not remove the write-ahead log.
func (env *env) openFile() *store.Store {
	env.mu.Lock()
	defer env.mu.Unlock()
	if env.opened == nil {
		var err error
		// While a disk is slow, servers may hold the file's lock for longer than Open waits.
		for deadline := time.Now().Add(patience); ; {
			env.opened, err = sqlite.Open(sqlite.Options{Path: env.path(), Beside: true})
			if err == nil || !strings.Contains(err.Error(), "database is locked") || time.Now().After(deadline) {
				break
			}
		}
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

// path returns the path of the SQLite file that env uses.
func (env *env) path() string { return strings.TrimPrefix(env.url, "sqlite:") }
