//go:build slow

package sqlite

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/server/internal/store"
)

// Ensure that closing a store whose file was deleted or replaced leaves behind no
// write-ahead log that would corrupt the next file, and loses no data if the file was
// moved.
func TestClose_Replaced(t *testing.T) {
	t.Parallel()
	skipOnWindows(t)
	remove := func(t *testing.T, path, _ string) { require.NoError(t, os.Remove(path)) }
	for name, test := range map[string]struct {
		replace func(t *testing.T, path, backup string)
		want    string // "backup", "moved" or "nothing"
	}{
		"the file is moved and the backup copied": {func(t *testing.T, path, backup string) {
			require.NoError(t, os.Rename(path, path+".moved"))
			copyFile(t, backup, path)
		}, "moved"},
		"the backup is copied over the file": {func(t *testing.T, path, backup string) {
			copyFile(t, backup, path)
		}, "backup"},
		"the file is deleted": {remove, "nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, backup := filepath.Join(t.TempDir(), "store.db"), filepath.Join(t.TempDir(), "backup.db")
			s, err := Open(Options{Path: path})
			require.NoError(t, err)
			d := s.Engine.(engineOn).db
			newTable(t, d)
			insertRows(t, d, 1, 500)
			require.NoError(t, failure(Backup(t.Context(), path, backup)))
			insertRows(t, d, 501, 3000)
			test.replace(t, path, backup)
			require.Error(t, d.verify())
			_ = s.Close() // Close fails because it cannot save the store's clock.
			assert.NoFileExists(t, path+"-wal")
			assert.NoFileExists(t, path+"-shm")
			if test.want == "nothing" {
				assert.NoFileExists(t, path)
				return
			}
			assertRows(t, path, 500)
			if test.want == "moved" {
				assertRows(t, path+".moved", 3000)
			}
		})
	}
}

// requireWarning starts a server twice, and checks that only the first start logs a warning, with the given
// id, or none if that is empty.
func requireWarning(t *testing.T, path, id string) {
	t.Helper()
	for _, id := range []string{id, ""} {
		var log bytes.Buffer
		s, err := Open(Options{Path: path, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		require.NoError(t, err)
		require.NoError(t, s.Close())
		if id == "" {
			assert.Empty(t, log.String())
			continue
		}
		assert.Equal(t, 1, bytes.Count(log.Bytes(), []byte("level=WARN")), log.String())
		assert.Contains(t, log.String(), "id="+id+" file="+path)
	}
}

// Ensure that the stop of a server whose file was replaced logs a warning, and that the next
// start does so too, once, unless the previous file is back or its games were quarantined. The start
// also does so if the server was killed before.
func TestClose_ReplacedWarns(t *testing.T) {
	t.Parallel()
	skipOnWindows(t)
	for name, test := range map[string]struct {
		replace, then func(t *testing.T, path, backup string)
		want          string // the id of the next start's warning
		killed        bool
	}{
		"the backup is moved": {
			replace: func(t *testing.T, path, backup string) { require.NoError(t, os.Rename(backup, path)) },
			want:    "file-not-quarantined",
		},
		"the games are quarantined": {
			replace: func(t *testing.T, path, backup string) { require.NoError(t, os.Rename(backup, path)) },
			then:    func(t *testing.T, path, _ string) { require.NoError(t, Quarantined(path)) },
		},
		"the file is put back": {
			replace: func(t *testing.T, path, _ string) { require.NoError(t, os.Rename(path, path+".moved")) },
			then:    func(t *testing.T, path, _ string) { require.NoError(t, os.Rename(path+".moved", path)) },
		},
		"killed, and the backup is copied over the file": {
			replace: func(t *testing.T, path, backup string) {
				require.NoError(t, os.Remove(path+walSuffix)) // as the errors without this step demand
				copyFile(t, backup, path)
			},
			want: "file-not-quarantined", killed: true,
		},
		"killed": {replace: func(*testing.T, string, string) {}, killed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, backup := filepath.Join(t.TempDir(), "store.db"), filepath.Join(t.TempDir(), "backup.db")
			if test.killed {
				path = crashed(t, 3000)
				require.NoError(t, failure(Backup(t.Context(), path, backup)))
				test.replace(t, path, backup)
				requireWarning(t, path, test.want)
				return
			}
			var log bytes.Buffer
			logger := slog.New(slog.NewTextHandler(&log, nil))
			s, err := Open(Options{Path: path, Logger: logger})
			require.NoError(t, err)
			require.NoError(t, failure(Backup(t.Context(), path, backup)))
			require.NoError(t, Quarantined(path), "while the server is running")
			test.replace(t, path, backup)
			_ = s.Close() // Close fails because it cannot save the store's clock.
			assert.Equal(t, 1, bytes.Count(log.Bytes(), []byte("level=WARN")), log.String())
			assert.Contains(t, log.String(), "id=file-replaced file="+path)
			if test.then != nil {
				test.then(t, path, backup)
			}
			requireWarning(t, path, test.want)
		})
	}
}

// Ensure that a server that finds its file missing or empty logs, once, that the file is new although
// there was one, and says nothing about a backup. A first start logs nothing.
func TestOpen_Missing(t *testing.T) {
	t.Parallel()
	skipOnWindows(t)
	for name, lose := range map[string]func(t *testing.T, path string, s *store.Store){
		"deleted while no server runs": func(t *testing.T, path string, s *store.Store) {
			require.NoError(t, s.Close())
			require.NoError(t, os.Remove(path))
		},
		"deleted while a server runs": func(t *testing.T, path string, s *store.Store) {
			require.NoError(t, os.Remove(path))
			_ = s.Close() // Close fails because it cannot save the store's clock.
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "store.db")
			s, err := Open(Options{Path: path})
			require.NoError(t, err)
			lose(t, path, s)
			requireWarning(t, path, "file-missing")
		})
	}
}

// Ensure that after a server has been killed, nothing opens a backup with the write-ahead
// log of the previous file, and that a log that belongs to the file is still applied.
func TestOpen_LogOfAnotherFile(t *testing.T) {
	t.Parallel()
	skipOnWindows(t)
	backup := filepath.Join(t.TempDir(), "backup.db")
	require.NoError(t, failure(Backup(t.Context(), crashed(t, 100), backup)))

	for name, replace := range map[string]func(t *testing.T, path string){
		"a backup is copied over the file": func(t *testing.T, path string) { copyFile(t, backup, path) },
		"a backup replaces the file": func(t *testing.T, path string) {
			require.NoError(t, os.Rename(path, path+".moved"))
			copyFile(t, backup, path)
		},
		"the file is empty":   func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 0)) },
		"the file is missing": func(t *testing.T, path string) { require.NoError(t, os.Rename(path, path+".moved")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := crashed(t, 3000)
			replace(t, path)
			before, _ := os.ReadFile(path)
			for range 2 { // A start that is refused must not make the next one succeed.
				_, err := Open(Options{Path: path})
				require.ErrorContains(t, err, "stop the server, delete store.db-wal and store.db-shm, copy the backup to store.db")
			}
			_, err := Open(Options{Path: path, Beside: true})
			require.ErrorContains(t, err, "delete store.db-wal")
			require.Error(t, failure(Backup(t.Context(), path, filepath.Join(t.TempDir(), "copy.db"))))
			after, _ := os.ReadFile(path)
			require.True(t, bytes.Equal(before, after), "the file was changed")
			if len(before) == 0 {
				return
			}
			require.NoError(t, os.Remove(path+"-wal"))
			assertRows(t, path, 100)
		})
	}
	t.Run("the log belongs to the file", func(t *testing.T) {
		t.Parallel()
		assertRows(t, crashed(t, 3000), 3000)
	})
}

// crashed returns the path of a store with the rows 1 to n as a killed server leaves it:
// most rows are only in the write-ahead log.
func crashed(t *testing.T, n int) string {
	t.Helper()
	path, copied := filepath.Join(t.TempDir(), "store.db"), filepath.Join(t.TempDir(), "store.db")
	s, err := Open(Options{Path: path})
	require.NoError(t, err)
	newTable(t, s.Engine.(engineOn).db)
	insertRows(t, s.Engine.(engineOn).db, 1, n)
	for _, part := range []string{"", walSuffix} {
		copyFile(t, path+part, copied+part) // From here on, nothing else may use this store.
	}
	_ = s.Close()
	database, err := os.Stat(copied)
	require.NoError(t, err)
	lock, err := acquire(copied + lockSuffix)
	require.NoError(t, err)
	info, err := lock.Stat()
	require.NoError(t, err)
	require.NoError(t, lock.remember(newRecord(database, info)))
	require.NoError(t, lock.Close())
	return copied
}

func newTable(t *testing.T, d *db) {
	t.Helper()
	require.NoError(t, d.write(t.Context(), func(c *sqlite3.Conn) error { return exec(c, "CREATE TABLE test (n INTEGER PRIMARY KEY, filler)") }))
}

// insertRows inserts the rows from first to last. The rows are so large that each page
// holds only a few.
func insertRows(t *testing.T, d *db, first, last int) {
	t.Helper()
	require.NoError(t, d.write(t.Context(), func(c *sqlite3.Conn) error {
		return exec(c, `WITH RECURSIVE numbers (n) AS (SELECT ? UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
			INSERT INTO test SELECT n, randomblob(500) FROM numbers`, first, last)
	}))
}

// assertRows asserts that a store can be opened, is intact, and has the rows 1 to n.
func assertRows(t *testing.T, path string, n int) {
	t.Helper()
	s, err := Open(Options{Path: path})
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.Engine.(engineOn).db.read(t.Context(), func(c *sqlite3.Conn) error {
		intact, err := number(c, "SELECT integrity_check = 'ok' FROM pragma_integrity_check")
		require.NoError(t, err)
		assert.EqualValues(t, 1, intact, "the file is corrupt")
		rows, err := number(c, "SELECT count(*) FROM test")
		assert.EqualValues(t, n, rows)
		return err
	}))
}

func skipOnWindows(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not let an open file be replaced")
	}
}
