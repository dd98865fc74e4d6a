package directory

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/store"
)

const (
	// sharedFor is how long a page of a public list is reused.
	sharedFor = time.Second
	// maxShared limits the number of pages that are kept.
	maxShared = 64
)

// Shared keeps the pages of public lists for a second, so that a page that many callers request
// is read once. A change of a list on this server, such as a new game, makes its pages be read
// again. The zero value is empty. It is safe for concurrent use.
type Shared[T any] struct {
	reading singleflight.Group
	mu      sync.Mutex
	pages   map[sharedKey]found[T]
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
	read   time.Time
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
	key := sharedKey{l, after, whole, d.changes.Load()}
	s.mu.Lock()
	f, ok := s.pages[key]
	s.mu.Unlock()
	if ok && time.Since(f.read) < sharedFor {
		return f.first(size), nil
	}
	own := false // whether the error, which may be the caller's own, is from this call
	value, err, _ := s.reading.Do(fmt.Sprint(key), func() (any, error) {
		own = true
		f, err := collect(ctx, d, l, after, whole, load)
		if err != nil {
			return nil, err
		}
		f.read = time.Now()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.pages == nil || len(s.pages) >= maxShared {
			s.pages = map[sharedKey]found[T]{}
		}
		s.pages[key] = f
		return f, nil
	})
	if err != nil && !own {
		return collect(ctx, d, l, after, size, load)
	}
	if err != nil {
		return found[T]{}, err
	}
	return value.(found[T]).first(size), nil
}
