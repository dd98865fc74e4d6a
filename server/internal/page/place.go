package page

import (
	"context"
	"encoding/binary"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/store"
)

// SealPlace returns the token of the page that follows the given place.
func (t *Tokens) SealPlace(ctx context.Context, query string, after store.Place) (string, error) {
	cursor := binary.BigEndian.AppendUint64(nil, uint64(after.Rank))
	return t.Seal(ctx, query, append(cursor, after.GameID...))
}

// OpenPlace returns the place that SealPlace sealed for the same query. An empty token means
// the top of the list. For any other token, the error is an *invalid.Error.
func (t *Tokens) OpenPlace(ctx context.Context, query, token string) (store.Place, error) {
	if token == "" {
		return store.Place{}, nil
	}
	cursor, err := t.Open(ctx, query, token)
	if err != nil {
		return store.Place{}, err
	}
	return parsePlace(cursor)
}

// parsePlace decodes the cursor of a place.
func parsePlace(cursor []byte) (store.Place, error) {
	const rankLength = 8
	if len(cursor) != rankLength+id.Length || !id.Valid(string(cursor[rankLength:])) {
		return store.Place{}, badToken() // The cursor is from a different version of the server.
	}
	return store.Place{Rank: int64(binary.BigEndian.Uint64(cursor)), GameID: string(cursor[rankLength:])}, nil
}
