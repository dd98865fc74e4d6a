//go:build slow

package sqlite

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sqlite3 "zombiezen.com/go/sqlite"
)

// Ensure that a warning is logged, once, if a long read lets the write-ahead log grow, and that the log
// then starts over.
func TestTendLog_Grows(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s, err := Open(Options{Memory: true, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	d := s.Engine.(*engine).db
	newTable(t, d)
	other, err := sqlite3.OpenConn(d.path, sqlite3.OpenReadOnly)
	require.NoError(t, err)
	require.NoError(t, exec(other, "BEGIN"))
	require.NoError(t, exec(other, "SELECT * FROM test"))
	grow := func(first int) {
		for n := first; n < first+200; n++ {
			insertRows(t, d, 1000*n+1, 1000*(n+1))
		}
	}
	grow(0)
	assert.Equal(t, 1, bytes.Count(log.Bytes(), []byte("level=WARN")), log.String())
	assert.Contains(t, log.String(), "id=log-grows")
	_, grown := s.Engine.(*engine).Sizes()
	assert.Greater(t, grown, int64(grownPages*pageSize))
	require.NoError(t, other.Close())
	grow(200)
	_, size := s.Engine.(*engine).Sizes()
	assert.LessOrEqual(t, size, int64(logLimit))
	require.NoError(t, s.Close())
}
