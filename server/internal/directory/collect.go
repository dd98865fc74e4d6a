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

// Collect reads the list l from the place that token refers to, until it has found size games
// that belong to the list. It calls load to look up candidates; load returns those that belong
// to the list, by id. The result of load may depend on the caller, whose id is empty if
// anonymous; page tokens are bound to the caller. Collect returns the token of the next page,
// or an empty token at the end of the list. If very many candidates do not belong, Collect
// stops early; the page may then be short or even empty but still have a token. For a token
// from another list or caller, the error is an *invalid.Error.
func Collect[T any](ctx context.Context, d *Directory, l store.List, callerID, token string, size int,
	load func(ctx context.Context, candidates []store.Place) (map[string]T, error),
) (items []T, next string, err error) {
	query := fmt.Sprintf("games %d %d %q %q %q", l.Order, l.Status, l.Variant, l.PlayerID, callerID)
	after, err := d.tokens.OpenPlace(ctx, query, token)
	if err != nil {
		return nil, "", err
	}
	var last store.Place // place of the last item
	count := size + 1    // Look for one more, to find out whether there is another page.
	for scanned := 0; scanned < maxScanned; count = max(count, chunk) {
		candidates, err := d.page(ctx, l, after, count)
		if err != nil {
			return nil, "", err
		}
		if len(candidates) == 0 {
			return items, "", nil
		}
		loaded, err := load(ctx, candidates)
		if err != nil {
			return nil, "", err
		}
		for _, after = range candidates {
			item, ok := loaded[after.GameID]
			if !ok {
				continue
			}
			if len(items) == size {
				next, err := d.tokens.SealPlace(ctx, query, last)
				return items, next, err
			}
			items, last = append(items, item), after
		}
		if len(candidates) < count {
			return items, "", nil
		}
		scanned += len(candidates)
	}
	next, err = d.tokens.SealPlace(ctx, query, after)
	return items, next, err
}

// Latest returns the first n places of a list without looking up the games.
func (d *Directory) Latest(ctx context.Context, l store.List, n int) ([]store.Place, error) {
	return d.page(ctx, l, store.Place{}, n)
}

// page reads up to n candidates that follow the given place.
func (d *Directory) page(ctx context.Context, l store.List, after store.Place, n int) ([]store.Place, error) {
	if l.PlayerID != "" && !id.Valid(l.PlayerID) {
		return nil, nil
	}
	places, err := d.reads.Page(ctx, l, after, n)
	if err != nil {
		return nil, fmt.Errorf("reading a list of games: %w", err)
	}
	return places, nil
}
