package sqlite

import "github.com/gridstand/gridstand/server/internal/store"

// WithRangeSize changes the range size of a store's boards.
func WithRangeSize(s *store.Store, n int64) *store.Store {
	b := s.Boards.(boards)
	b.rangeSize = n
	s.Boards = b
	return s
}
