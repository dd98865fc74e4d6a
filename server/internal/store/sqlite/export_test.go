package sqlite

import "github.com/gridstand/gridstand/server/internal/store"

// WithRangeSize has the boards of a store count in ranges of another size.
func WithRangeSize(s *store.Store, n int64) *store.Store {
	b := s.Boards.(boards)
	b.rangeSize = n
	s.Boards = b
	return s
}
