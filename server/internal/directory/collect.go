package directory

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/store"
)

const (
	// chunk is the least number of candidates that are looked up at a time if the
	// first ones did not fill the page. It keeps round trips few even if the page is
	// small and many candidates do not belong on it.
	chunk = 200
	// maxScanned bounds the candidates that one Collect looks up.
	maxScanned = 10 * chunk
)

// Collect pages through a list from token on until it has size games that belong to
// it. load looks up candidates and returns those that belong, by id; which ones it
// leaves out may depend on the caller, "" for an anonymous one, to whom the token is
// bound. The token returned is that of the next page, and empty at the end of the
// list. If very many candidates do not belong, Collect stops before the page is full:
// it may be short, even empty, and still have a token. A token of another list or
// caller is an *invalid.Error.
func Collect[T any](ctx context.Context, d *Directory, l store.List, callerID, token string, size int,
	load func(ctx context.Context, candidates []store.Place) (map[string]T, error),
) (items []T, next string, err error) {
	query := fmt.Sprintf("games %d %d %q %q %q", l.Order, l.Status, l.Variant, l.PlayerID, callerID)
	after, err := d.place(ctx, query, token)
	if err != nil {
		return nil, "", err
	}
	var last store.Place // of the items
	count := size + 1    // One more tells whether a page follows.
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
				next, err := d.token(ctx, query, last)
				return items, next, err
			}
			items, last = append(items, item), after
		}
		if len(candidates) < count {
			return items, "", nil
		}
		scanned += len(candidates)
	}
	next, err = d.token(ctx, query, after)
	return items, next, err
}

// Latest returns the first n places of a list, as the list has them.
func (d *Directory) Latest(ctx context.Context, l store.List, n int) ([]store.Place, error) {
	return d.page(ctx, l, store.Place{}, n)
}

// page reads up to n candidates that follow a place.
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

// token is a page token for what follows a place. It is sealed: the place may be that
// of a game that the caller must not see.
func (d *Directory) token(ctx context.Context, query string, after store.Place) (string, error) {
	cursor := binary.BigEndian.AppendUint64(nil, uint64(after.Rank))
	return d.tokens.Seal(ctx, query, append(cursor, after.GameID...))
}

// place reads what token wrote for the same query; an empty token is the top.
// Any other token is an *invalid.Error.
func (d *Directory) place(ctx context.Context, query, token string) (store.Place, error) {
	if token == "" {
		return store.Place{}, nil
	}
	cursor, err := d.tokens.Open(ctx, query, token)
	if err != nil {
		return store.Place{}, err
	}
	return parsePlace(cursor)
}

// parsePlace reads a cursor.
func parsePlace(cursor []byte) (store.Place, error) {
	const rankLength = 8
	if len(cursor) != rankLength+id.Length || !id.Valid(string(cursor[rankLength:])) {
		return store.Place{}, page.BadToken() // Of a server of another version.
	}
	return store.Place{Rank: int64(binary.BigEndian.Uint64(cursor)), GameID: string(cursor[rankLength:])}, nil
}
