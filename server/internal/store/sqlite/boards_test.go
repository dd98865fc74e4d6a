package sqlite_test

import (
	"testing"

	"github.com/gridstand/gridstand/server/internal/store/sqlite"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// Ensure that boards match the model even if each range holds only a few entries.
func TestBoards_SmallRanges(t *testing.T) {
	t.Parallel()
	storetest.BoardsLikeModel(t, sqlite.WithRangeSize(storetest.OnSQLite(t, sqlite.Options{Memory: true}), 4).Boards)
}
