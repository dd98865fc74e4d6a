package sqlite_test

import (
	"testing"

	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// Ensure the contract with ranges so small that its few entries make many of them.
func TestBoards_SmallRanges(t *testing.T) {
	t.Parallel()
	storetest.Boards(t, func(t *testing.T) *store.Store {
		return sqlite.WithRangeSize(storetest.OnSQLite(t, sqlite.Options{Memory: true}), 4)
	})
}
