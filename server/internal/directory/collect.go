package directory

import (
	"context"
	"fmt"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/store"
)

const (
	// chunk is the minimum number of candidates per lookup once the first one has failed to
	// fill the page. It keeps the number of round trips low even if the page is small and
	// many candidates do not belong to the list.
	chunk = 200
	// maxScanned limits the number of candidates that one call to Collect looks up.
	maxScanned = 10 * chunk
)

// loader looks up candidates. It returns those that belong to the list, by ID.
type loader[T any] func(ctx context.Context, candidates []store.Place) (map[string]T, error)

// Collect reads the list l from the place that token refers to, until it has found size games
// that belong to the list. The result of load may depend on the caller, whose id is empty if
// anonymous, unless the list is public; page tokens are bound to the caller. Pages of public lists
// are kept in shared, and the caller must not change the items. Collect returns the token of the
// next page, or an empty token at the end of the list. If very many candidates do not belong,
// Collect stops early; the page may then be short or even empty but still have a token. For a
// token from another list or caller, the error is an *invalid.Error.
func Collect[T any](ctx context.Context, d *Directory, shared *Shared[T], l store.List, callerID, token string, size int, load loader[T]) (items []T, next string, err error) {
	query := fmt.Sprintf("games %d %d %q %q %q", l.Order, l.Status, l.Variant, l.PlayerID, callerID)
	after, err := d.tokens.Open(ctx, query, token)
	if err != nil {
		return nil, "", err
	}
	read := collect[T]
	if l.PlayerID == "" {
		read = shared.collect
	}
	f, err := read(ctx, d, l, after, size, load)
	if err == nil && f.more {
		next, err = d.tokens.Seal(ctx, query, f.end)
	}
	return f.items, next, err
}

// collect reads the part of a list that follows the given place.
func collect[T any](ctx context.Context, d *Directory, l store.List, after store.Place, size int, load loader[T]) (f found[T], err error) {
	count := size + 1 // Look for one more, to find out whether there is another page.
	for scanned := 0; scanned < maxScanned; count = max(count, chunk) {
		candidates, err := d.page(ctx, l, after, count)
		if err != nil || len(candidates) == 0 {
			return f, err
		}
		loaded, err := load(ctx, candidates)
		if err != nil {
			return f, err
		}
		for _, after = range candidates {
			item, ok := loaded[after.GameID]
			if !ok {
				continue
			}
			f.items, f.places = append(f.items, item), append(f.places, after)
			if len(f.items) > size {
				return f.first(size), nil
			}
		}
		if len(candidates) < count {
			return f, nil
		}
		scanned += len(candidates)
	}
	f.more, f.end = true, after
	return f, nil
}

// page reads up to n candidates that follow the given place.
func (d *Directory) page(ctx context.Context, l store.List, after store.Place, n int) ([]store.Place, error) {
	if l.PlayerID != "" && !id.Valid(l.PlayerID) {
		return nil, nil
	}
	return d.reads.Page(ctx, l, after, n)
}
