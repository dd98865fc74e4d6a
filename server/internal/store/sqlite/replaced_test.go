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
)

// Ensure that closing a store whose file was moved and replaced leaves behind no write-ahead
// log that would corrupt the next file, and that the moved file has all data.
func TestClose_Replaced(t *testing.T) {
	t.Parallel()
	skipOnWindows(t)
	path, backup := filepath.Join(t.TempDir(), "store.db"), filepath.Join(t.TempDir(), "backup.db")
	s := mustOpen(t, Options{Path: path})
	d := s.Engine.(*engine).db
	newTable(t, d)
	insertRows(t, d, 1, 500)
	require.NoError(t, failure(Backup(t.Context(), path, backup)))
	insertRows(t, d, 501, 1000)
	require.NoError(t, os.Rename(path, path+".moved"))
	copyFile(t, backup, path)
	require.Error(t, d.verify())
	_ = s.Close() // Close fails because it cannot save the store's clock.
	assertRows(t, path, 500)
	assertRows(t, path+".moved", 1000)
}

// Ensure that a stop saves everything if the write-ahead log was deleted while the server was running.
func TestClose_LogDeleted(t *testing.T) {
	t.Parallel()
	skipOnWindows(t)
	path := filepath.Join(t.TempDir(), "store.db")
	s := mustOpen(t, Options{Path: path})
	d := s.Engine.(*engine).db
	newTable(t, d)
	insertRows(t, d, 1, 500)
	require.NoError(t, os.Remove(path+walSuffix))
	require.Error(t, d.verify())
	_ = s.Close() // Close fails because it cannot save the store's clock.
	assertRows(t, path, 500)
}

// Ensure that a server that finds its file missing or empty logs, once, that the file is new although
// there was one. A first start logs nothing.
func TestOpen_Missing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	for _, want := range []int{0, 0, 1, 0} {
		if want > 0 {
			require.NoError(t, os.Remove(path))
		}
		var log bytes.Buffer
		require.NoError(t, mustOpen(t, Options{Path: path, Logger: slog.New(slog.NewTextHandler(&log, nil))}).Close())
		assert.Equal(t, want, bytes.Count(log.Bytes(), []byte("id=file-missing file="+path)), log.String())
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
		"the file is empty":                func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 0)) },
		"the file is missing":              func(t *testing.T, path string) { require.NoError(t, os.Rename(path, path+".moved")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := crashed(t, 500)
			replace(t, path)
			before, _ := os.ReadFile(path)
			for range 2 { // A start that is refused must not make the next one succeed.
				_, err := Open(Options{Path: path})
				require.ErrorContains(t, err, `run "gridstand-server restore --replace"`)
			}
			_, err := Open(Options{Path: path, Beside: true})
			require.ErrorContains(t, err, `run "gridstand-server restore --replace"`)
			require.Error(t, failure(Backup(t.Context(), path, filepath.Join(t.TempDir(), "copy.db"))))
			after, _ := os.ReadFile(path)
			require.True(t, bytes.Equal(before, after), "the file was changed")
		})
	}
	t.Run("the log belongs to the file", func(t *testing.T) {
		t.Parallel()
		assertRows(t, crashed(t, 500), 500)
	})
}

// crashed returns the path of a store with the rows 1 to n as a killed server leaves it:
// most rows are only in the write-ahead log.
func crashed(t *testing.T, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	s := mustOpen(t, Options{Path: path})
	newTable(t, s.Engine.(*engine).db)
	insertRows(t, s.Engine.(*engine).db, 1, n)
	killed := asKilled(t, path, walSuffix)
	_ = s.Close()
	return killed
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
	s := mustOpen(t, Options{Path: path})
	defer s.Close()
	require.NoError(t, s.Engine.(*engine).db.read(t.Context(), func(c *sqlite3.Conn) error {
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
