package sqlite

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sqlite3 "zombiezen.com/go/sqlite"
)

// Ensure that a stop logs an error if the latest writes are only in the write-ahead log, and that the
// next start has them.
func TestClose_LogNotEmptied(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	path := filepath.Join(t.TempDir(), "store.db")
	s := mustOpen(t, Options{Path: path, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	other, err := sqlite3.OpenConn(path, sqlite3.OpenReadOnly)
	require.NoError(t, err)
	require.NoError(t, exec(other, "BEGIN"))
	require.NoError(t, exec(other, "SELECT * FROM hidden"))
	require.NoError(t, s.Boards.Hide(t.Context(), "ann"))
	require.ErrorContains(t, s.Close(), "another program reads the file")
	assert.Contains(t, log.String(), "level=ERROR")
	assert.Contains(t, log.String(), "id=log-not-emptied log="+path+walSuffix)
	require.NoError(t, other.Close())
	requireHidden(t, path, "ann")
}
