package directory

import (
	"context"
	"time"

	"github.com/gridstand/gridstand/server/internal/cached"
	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/store"
)

// sharedFor is how long a page of a public list is reused.
const sharedFor = time.Second

// Shared keeps the pages of public lists for a second, so that a page that many callers request
// is read once. A change of a list by Put, such as a new game, makes its pages be read again. The
// zero value is empty. It is safe for concurrent use.
type Shared[T any] struct {
	pages cached.Reads[sharedKey, found[T]]
}

type sharedKey struct {
	list    store.List
	after   store.Place
	size    int
	changes int64 // Directory.changes
}

// found is a part of a list.
type found[T any] struct {
	items  []T
	places []store.Place // of the items
	more   bool          // whether the list continues after the place end
	end    store.Place
}

// first returns the first n items.
func (f found[T]) first(n int) found[T] {
	if len(f.items) <= n {
		return f
	}
	return found[T]{items: f.items[:n:n], places: f.places[:n:n], more: true, end: f.places[n-1]}
}

// collect is like the function collect, but reuses a page that was read in the last second.
func (s *Shared[T]) collect(ctx context.Context, d *Directory, l store.List, after store.Place, size int, load loader[T]) (found[T], error) {
	// Callers with other sizes use the same page.
	whole := (size + page.DefaultSize - 1) / page.DefaultSize * page.DefaultSize
	f, err := s.pages.Get(ctx, sharedKey{l, after, whole, d.changes.Load()}, sharedFor, func() (found[T], error) {
		return collect(ctx, d, l, after, whole, load)
	})
	return f.first(size), err
}
