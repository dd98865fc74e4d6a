package admission

// member belongs to at most one set, and stores its index in it.
type member interface{ index() *int }

// set is an unordered set stored in a slice.
type set[T member] struct{ all []T }

func (s *set[T]) add(m T) {
	*m.index() = len(s.all)
	s.all = append(s.all, m)
}

func (s *set[T]) remove(m T) {
	last := len(s.all) - 1
	moved := s.all[last]
	s.all[*m.index()] = moved
	*moved.index() = *m.index()
	var none T
	s.all[last] = none
	s.all = s.all[:last]
	if last == 0 && cap(s.all) > 64 {
		s.all = nil // Release the slice, because it may be large.
	}
}
