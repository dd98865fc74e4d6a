package sqlite_test

import (
	"testing"

	"github.com/gridstand/gridstand/server/internal/store/sqlite"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// Ensure that the boards are those of the model also if the few entries of the test make
// many ranges.
func TestBoards_SmallRanges(t *testing.T) {
	t.Parallel()
	storetest.BoardsLikeModel(t, sqlite.WithRangeSize(storetest.OnSQLite(t, sqlite.Options{Memory: true}), 4).Boards)
}
