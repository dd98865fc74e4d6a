package fault

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	delaystest "github.com/gridstand/gridstand/internal/testkit/delays"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
)

// newSQLiteEnv returns an env on a new file in its own directory. It checks the store once the
// test and its servers have ended.
func newSQLiteEnv(t *testing.T) *env {
	t.Helper()
	return newFileEnv(t, filepath.Join(t.TempDir(), "store.db"))
}

// newFileEnv is like newSQLiteEnv, but uses the file at the given path.
func newFileEnv(t *testing.T, path string) *env {
	t.Helper()
	env := newUncheckedFileEnv(t, path)
	t.Cleanup(func() { check(t, env) })
	return env
}

// newUncheckedFileEnv is like newFileEnv, but does not check the store after the test.
func newUncheckedFileEnv(t *testing.T, path string) *env {
	t.Helper()
	if testing.Short() {
		t.Skip("injects faults into whole servers")
	}
	env := &env{t: t, url: "sqlite:" + path, observed: newObservations(), delays: delaystest.Measure(t), damaged: map[string]bool{}}
	env.ports = env.openFile
	t.Cleanup(func() { env.closeFile(t) })
	return env
}

// openFile opens env's database file on first use. While the test has the file open, a server
// that stops does not remove the write-ahead log.
func (env *env) openFile() *store.Store { return env.openFileAt(env.path()) }

func (env *env) openFileAt(path string) *store.Store {
	env.mu.Lock()
	defer env.mu.Unlock()
	if env.opened == nil {
		var err error
		// While a disk is slow, servers may hold the file's lock for longer than Open waits.
		for deadline := time.Now().Add(patience); ; {
			env.opened, err = sqlite.Open(sqlite.Options{Path: path, Beside: true})
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

// image is the content of a store's file and of its write-ahead log.
type image struct{ db, wal []byte }

// readImage reads a store that this process must not have open: closing any file descriptor of
// a file releases all locks that the process has on that file.
func readImage(t *testing.T, path string) image {
	t.Helper()
	db, err := os.ReadFile(path)
	require.NoError(t, err)
	wal, err := os.ReadFile(path + "-wal")
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	return image{db, wal}
}

// write replaces a store, which no process may have open, with the image.
func (i image) write(t *testing.T, path string) {
	t.Helper()
	removeStore(t, path)
	// The lock file indicates that the write-ahead log belongs to the file that was just
	// removed.
	if err := os.Remove(path + ".lock"); !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	require.NoError(t, os.WriteFile(path, i.db, 0o600))
	if len(i.wal) > 0 {
		require.NoError(t, os.WriteFile(path+"-wal", i.wal, 0o600))
	}
}

// removeStore removes the files of a store except the one that servers lock.
func removeStore(t *testing.T, path string) {
	t.Helper()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); !os.IsNotExist(err) {
			require.NoError(t, err)
		}
	}
}

// copyStore copies the files of a store, which processes may have open.
func copyStore(t *testing.T, from, to string) {
	t.Helper()
	for _, suffix := range []string{"", "-wal"} {
		out, err := exec.Command("cp", from+suffix, to+suffix).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
}

// Ensure that clocks are credited with the time during which the only server was paused or not
// running.
func TestSQLite_Clocks_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	const outage = 5 * time.Second
	for name, stop := range map[string]func(t *testing.T, env *env, s *testServer) *testServer{
		"it was paused": func(t *testing.T, _ *env, s *testServer) *testServer {
			t.Helper()
			require.NoError(t, s.process.Pause())
			<-time.After(outage)
			require.NoError(t, s.process.Resume())
			return s
		},
		"it was killed": func(_ *testing.T, env *env, s *testServer) *testServer {
			s.stop()
			<-time.After(outage)
			return env.serveProcess()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newSQLiteEnv(t)
			server := env.serveProcess()
			env.awaitHeartbeat(t)
			game, _ := runningTable(t, env, server)
			requireClockExtended(t, env, game, stop(t, env, server), outage-time.Second)
		})
	}
}

// Ensure that a server whose file was removed or replaced acknowledges nothing from then on.
func TestSQLite_FileReplaced(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]func(t *testing.T, path, old string){
		"deleted": func(t *testing.T, path, _ string) { t.Helper(); removeStore(t, path) },
		"replaced by an older copy": func(t *testing.T, path, old string) {
			t.Helper()
			removeStore(t, path)
			for _, suffix := range []string{"", "-wal"} {
				require.NoError(t, os.Rename(old+suffix, path+suffix))
			}
		},
		"moved away": func(t *testing.T, path, _ string) { t.Helper(); require.NoError(t, os.Rename(path, path+".moved")) },
		"an older copy over it": func(t *testing.T, path, old string) {
			t.Helper()
			require.NoError(t, os.Rename(old, path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newUncheckedFileEnv(t, filepath.Join(t.TempDir(), "store.db"))
			server := env.serveProcess()
			player := env.player(server)
			last := player.playTo(t, seeded(t), player.start(t, "6x6"), 5)
			old := env.path() + ".old"
			copyStore(t, env.path(), old)
			last = player.playTo(t, seeded(t), after(last), whole)
			watcher := env.anonymous(server).watch(t, last.GetGameId(), watching{})
			watcher.awaitVersion(t, whole)

			replace(t, env.path(), old)
			direction := last.GetPosition().GetTwenty48().GetLegalMoves()[0]
			for range 3 {
				wantUnavailable(t, func(ctx context.Context) error {
					_, err := player.move(ctx, last.GetGameId(), last.GetVersion(), direction)
					return err
				})
			}
			watcher.requireAttached(t)
			server.stop()
		})
	}
}
