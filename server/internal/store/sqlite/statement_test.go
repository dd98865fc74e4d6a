package sqlite

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sqlite3 "zombiezen.com/go/sqlite"
)

// Ensure that values read from a statement equal the values bound to it.
func TestQuery_Values(t *testing.T) {
	t.Parallel()
	d := openDB(t, Options{Memory: true})
	at := time.UnixMilli(1_234_567).UTC()
	require.NoError(t, d.read(t.Context(), func(c *sqlite3.Conn) error {
		return query(c, "SELECT ?, ?, ?, ?", func(s *sqlite3.Stmt) {
			assert.Equal(t, []byte("blob"), blob(s, 0))
			assert.Equal(t, at, timeAt(s, 1))
			assert.Zero(t, timeAt(s, 2))
			assert.Equal(t, uint64(1<<64-1), uint64(s.ColumnInt64(3)))
		}, []byte("blob"), at, time.Time{}, uint64(1<<64-1))
	}))
}
