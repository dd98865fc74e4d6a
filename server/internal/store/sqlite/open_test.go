package sqlite

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sqlite3 "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/gridstand/gridstand/server/internal/store"
)

// Ensure that data survives closing the store, and that only the owner can access the
// files.
func TestOpen_Again(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "store.db")
	s := mustOpen(t, Options{Path: path})
	require.NoError(t, s.Boards.Hide(t.Context(), "ann"))
	assert.Equal(t, "sqlite:"+path, s.Name())
	if runtime.GOOS != "windows" {
		for name, want := range map[string]os.FileMode{"": 0o700, "store.db": 0o600, "store.db-wal": 0o600, "store.db-shm": 0o600, "store.db.lock": 0o600} {
			info, err := os.Stat(filepath.Join(filepath.Dir(path), name))
			require.NoError(t, err)
			assert.Equal(t, want, info.Mode().Perm(), name)
		}
	}
	require.NoError(t, s.Close())
	assert.NoFileExists(t, path+"-wal")
	require.NoError(t, os.Chmod(path, 0o644)) // as cp does when it restores a backup
	requireHidden(t, path, "ann")
	if runtime.GOOS != "windows" {
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o640), info.Mode().Perm(), "the group may have been given access")
	}
}

// Ensure that an in-memory store leaves nothing behind.
func TestOpen_Memory(t *testing.T) {
	directory := t.TempDir()
	t.Setenv("TMPDIR", directory)
	s := mustOpen(t, Options{Memory: true})
	require.NoError(t, s.Close())
	files, err := os.ReadDir(directory)
	require.NoError(t, err)
	assert.Empty(t, files)
}

// copyFile copies a file like cp: if the target exists, its content is overwritten.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, content, 0o600))
}

// asKilled returns the path of a copy of a store as a killed server leaves it, with those of its other files
// that have the given suffixes. Reading the store has released SQLite's locks: nothing else may use it then.
func asKilled(t *testing.T, path string, suffixes ...string) string {
	t.Helper()
	killed := filepath.Join(t.TempDir(), "store.db")
	for _, suffix := range append(suffixes, "") {
		copyFile(t, path+suffix, killed+suffix)
	}
	return killed
}

// requireUntouched requires that a file that is not a store has the content and the mode from before, and
// that nothing was created next to it.
func requireUntouched(t *testing.T, path string, content []byte) {
	t.Helper()
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, content, after)
	for _, suffix := range []string{lockSuffix, shmSuffix} {
		assert.NoFileExists(t, path+suffix)
	}
	if runtime.GOOS != "windows" {
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o644), info.Mode().Perm())
	}
}

// Ensure that a store can be opened whose server was killed while it created the file: first without tables,
// which no tool takes for those of another program, and then with tables that are only in the log.
func TestOpen_Created(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	execute(t, path, "PRAGMA journal_mode = WAL")
	_, err := Open(Options{Path: path, Beside: true})
	require.ErrorIs(t, err, errNoTables)
	require.ErrorIs(t, Dump(t.Context(), path, nil), errNoTables)
	s := openStore(t, Options{Path: path})
	require.NoError(t, s.Boards.Hide(t.Context(), "ann"))
	requireHidden(t, asKilled(t, path, walSuffix), "ann")
}

// Ensure that files that are not stores, that hold only a part of one, or that a newer version of the
// program wrote, are rejected with errors that say what to do. What is not a store stays as it is, even if its
// tables are only in its log.
func TestOpen_Refused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ script, want string }{
		"newer":           {fmt.Sprintf("%s; PRAGMA application_id = %d; PRAGMA user_version = 1000", schema, applicationID), "newer version of this program: its schema version is 1000"},
		"another program": {"CREATE TABLE t (n)", "database of another program"},
		"its log":         {"PRAGMA journal_mode = WAL; CREATE TABLE t (n)", "database of another program"},
	} {
		path := filepath.Join(t.TempDir(), "store.db")
		c, err := sqlite3.OpenConn(path)
		require.NoError(t, err)
		require.NoError(t, sqlitex.ExecuteScript(c, test.script, nil))
		if name == "its log" {
			path = asKilled(t, path, walSuffix)
		}
		require.NoError(t, c.Close())
		require.NoError(t, os.Chmod(path, 0o644))
		before, err := os.ReadFile(path)
		require.NoError(t, err)
		_, err = Open(Options{Path: path})
		assert.ErrorContains(t, err, test.want, name)
		if name == "newer" {
			continue
		}
		_, err = Open(Options{Path: path, Beside: true})
		assert.ErrorContains(t, err, test.want, name)
		requireUntouched(t, path, before)
	}
	for name, content := range map[string]string{"text.db": "echo a script is no store\n", "long.db": schema, "cut.db": ""} {
		path := filepath.Join(t.TempDir(), name)
		if content == "" {
			require.NoError(t, mustOpen(t, Options{Path: path}).Close())
			require.NoError(t, os.Truncate(path, 8192))
		} else {
			require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
		}
		_, err := Open(Options{Path: path})
		require.ErrorContains(t, err, name+": it is damaged, or is not a file of Gridstand; restore a backup", name)
		var failure *store.Error
		require.ErrorAs(t, err, &failure)
		assert.Equal(t, store.Corrupt, failure.Kind)
		if content != "" {
			requireUntouched(t, path, []byte(content))
		}
	}
	_, err := Open(Options{Path: filepath.Join(t.TempDir(), "missing.db"), Beside: true})
	assert.Error(t, err)

	directory := t.TempDir()
	_, err = Open(Options{Path: directory})
	assert.ErrorContains(t, err, "opening "+directory+": it is a directory; add a file name")
	assert.NoFileExists(t, directory+lockSuffix)
	if runtime.GOOS != "windows" {
		link := filepath.Join(directory, "link.db")
		require.NoError(t, os.Symlink("missing.db", link))
		for _, beside := range []bool{false, true} {
			_, err = Open(Options{Path: link, Beside: beside})
			assert.ErrorContains(t, err, "opening "+link+": it is a symbolic link to a file that does not exist")
		}
		assert.Error(t, Restore(link, true, func(string) error { return nil }))
		files, err := os.ReadDir(directory)
		require.NoError(t, err)
		assert.Len(t, files, 1, "nothing is left beside the link")
	}
	_, err = Open(Options{Path: os.DevNull})
	assert.ErrorContains(t, err, "not a regular file")
	_, _, err = Backup(t.Context(), directory, filepath.Join(directory, "copy"))
	assert.ErrorContains(t, err, "opening "+directory+": it is a directory")

	path := filepath.Join(t.TempDir(), "store.db")
	require.NoError(t, mustOpen(t, Options{Path: path}).Close())
	require.NoError(t, os.Mkdir(path+walSuffix, 0o700)) // root, too, cannot create the log here
	_, _, err = Backup(t.Context(), path, filepath.Join(directory, "copy"))
	assert.ErrorContains(t, err, "opening "+path+": your user must be able to write it, and to create files next to it (")
}

// Ensure that a file that another program has locked is refused with an error that says what to do.
func TestExplain_Busy(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	other, err := sqlite3.OpenConn(path)
	require.NoError(t, err)
	defer func() { assert.NoError(t, other.Close()) }()
	require.NoError(t, exec(other, "BEGIN EXCLUSIVE"))
	c, err := sqlite3.OpenConn(path)
	require.NoError(t, err)
	defer func() { assert.NoError(t, c.Close()) }()
	c.SetBusyTimeout(0)
	err = upgrade(c, upgrades)
	require.ErrorContains(t, explain(err), "another program, such as sqlite3 with an open transaction, has locked it")
	var failure *store.Error
	require.ErrorAs(t, failed(explain(err)), &failure)
	assert.Equal(t, store.Timeout, failure.Kind)
}

// Ensure that the clock does not go back, even if the system's clock is set back while
// the store is closed, and that a start then warns.
func TestNow_DoesNotGoBack(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	wall := time.Now().Add(time.Hour)
	s := mustOpen(t, Options{Path: path, Now: func() time.Time { return wall }})
	first, err := s.Time(t.Context())
	require.NoError(t, err)
	assert.Equal(t, wall.UnixMilli(), first.UnixMilli())
	wall = wall.Add(-time.Minute)
	again, err := s.Time(t.Context())
	require.NoError(t, err)
	assert.Equal(t, first, again)
	later := func() time.Time { return wall.Add(5 * time.Second) }
	ahead := clock{system: later, latest: first.UnixMilli(), latestAt: wall}
	assert.Equal(t, first.Add(2500*time.Millisecond), ahead.now(), "it advances at half the speed until the system's clock has caught up")
	require.NoError(t, s.Close())
	for ahead, warnings := range map[time.Duration]int{time.Minute: 0, time.Hour: 1} {
		var log bytes.Buffer
		s := mustOpen(t, Options{Path: path, Now: func() time.Time { return first.Add(-ahead) }, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		reopened, err := s.Time(t.Context())
		require.NoError(t, err)
		assert.Equal(t, first, reopened)
		assert.Equal(t, warnings, bytes.Count(log.Bytes(), []byte("id=clock-ahead file="+path+" ahead=1h0m0s")), log.String())
		require.NoError(t, s.Close())
	}
}

// Ensure that accounts, sessions and games do not expire while no server has the file open, and that
// they do afterwards, even if a tool opens the file first.
func TestOpen_AfterLongTime(t *testing.T) {
	t.Parallel()
	for _, beside := range []bool{false, true} {
		path, wall, ctx := filepath.Join(t.TempDir(), "store.db"), time.Now(), t.Context()
		o := Options{Path: path, Now: func() time.Time { return wall }}
		requireKept := func(s *store.Store, kept bool) {
			t.Helper()
			require.NoError(t, s.Engine.(*engine).background.sweep(ctx))
			accounts, err := s.Accounts.Get(ctx, []string{"ann"})
			require.NoError(t, err)
			assert.Equal(t, kept, len(accounts) == 1)
			sessions, err := s.Sessions.Sessions(ctx, "ann")
			require.NoError(t, err)
			assert.Equal(t, kept, len(sessions) == 1)
			heads, err := s.Games.Heads(ctx, []string{"game"})
			require.NoError(t, err)
			assert.Equal(t, kept, heads[0].Exists)
		}
		s := mustOpen(t, o)
		_, err := s.Accounts.Create(ctx, store.Account{ID: "ann", Name: "Ann"}, time.Hour)
		require.NoError(t, err)
		_, err = s.Sessions.Offer(ctx, "ann", "link", time.Minute)
		require.NoError(t, err)
		_, err = s.Sessions.Open(ctx, "link", store.Session{ID: "phone"}, 1, time.Hour)
		require.NoError(t, err)
		play(t, s, "game", 1, 1)
		require.NoError(t, s.Games.Expire(ctx, wall.Add(time.Hour), "game"))
		require.NoError(t, s.Close())

		wall = wall.Add(1000 * time.Hour)
		if beside {
			require.NoError(t, mustOpen(t, Options{Path: path, Beside: true, Now: o.Now}).Close())
		}
		s = openStore(t, o)
		requireKept(s, true)
		wall = wall.Add(59 * time.Minute)
		requireKept(s, true)
		wall = wall.Add(time.Minute)
		requireKept(s, false)
	}
}
