package directory

import (
	"context"
	_ "embed" // For the script.
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/internal/page"
)

//go:embed page.lua
var pageSource string

var pageScript = redis.NewScript(pageSource)

// Order is the order of a list, always from the greatest down.
type Order uint8

// The orders. ByScore and ByWatchers list active games only, and of equally
// watched games ByWatchers lists the one with the higher score first.
const (
	Recent Order = iota
	ByScore
	ByWatchers
)

// Query says which games to list.
type Query struct {
	// Order of the list. With a player it is Recent.
	Order Order
	// Status of the games, for the order Recent.
	Status Status
	// Variant of the games, empty for any. It becomes part of a key: callers
	// pass those that they know.
	Variant string
	// PlayerID of one of their players, empty for any. The candidates are then
	// of every status and variant, also private: the caller leaves out what
	// the query does not ask for.
	PlayerID string
}

// key of the set that holds the candidates.
func (q Query) key() string {
	variant := q.Variant
	if variant == "" {
		variant = anything
	}
	switch {
	case q.PlayerID != "":
		return playerKey(q.PlayerID)
	case q.Order == ByScore:
		return scoreKey(variant)
	case q.Order == ByWatchers:
		return watchersKey(variant)
	default:
		return recentKey(q.Status, variant)
	}
}

// Rank is where a game belongs in the list: those of greater ranks stand before
// it.
func (q Query) Rank(l Listing) int64 {
	var z redis.Z
	switch {
	case q.PlayerID != "" || q.Order == Recent:
		z = byTime(l)
	case q.Order == ByScore:
		z = byScore(l)
	default:
		z = byWatchers(l)
	}
	return int64(z.Score)
}

// String names the query; page tokens are bound to it.
func (q Query) String() string {
	return fmt.Sprintf("games %d %d %q %q", q.Order, q.Status, q.Variant, q.PlayerID)
}

// Page is a piece of a list.
type Page struct {
	// GameIDs of the candidates, in the order of the query.
	GameIDs []string
	// More says that candidates may follow.
	More bool

	query Query
	ranks []int64
}

// Misplaced reports whether the candidate of index i, a game of which the
// listing is the truth, stands elsewhere than it belongs.
func (p Page) Misplaced(i int, truth Listing) bool { return p.ranks[i] != p.query.Rank(truth) }

// Token leads to what follows the candidate of index i.
func (p Page) Token(i int) string {
	cursor := binary.BigEndian.AppendUint64(nil, uint64(p.ranks[i]))
	return page.Token(p.query.String(), append(cursor, p.GameIDs[i]...))
}

// Page returns up to size candidates: the first for an empty token, else those
// that follow the candidate whose Token it is, also when that one is gone or
// stands elsewhere now. Each should be looked up before it is shown. A token of
// another query is an *invalid.Error.
func (d *Directory) Page(ctx context.Context, q Query, token string, size int) (Page, error) {
	p := Page{query: q}
	args := []any{size}
	if token != "" {
		score, gameID, err := q.parseToken(token)
		if err != nil {
			return p, err
		}
		args = append(args, score, gameID)
	}
	if q.PlayerID != "" && !id.Valid(q.PlayerID) {
		return p, nil
	}
	reply, err := pageScript.Run(ctx, d.client, []string{q.key()}, args...).StringSlice()
	if err != nil {
		return p, fmt.Errorf("reading a list of games: %w", err)
	}
	for i := 0; i+1 < len(reply); i += 2 {
		score, err := strconv.ParseFloat(reply[i+1], 64)
		if err != nil {
			return p, fmt.Errorf("reading a list of games: %w", err)
		}
		p.GameIDs, p.ranks = append(p.GameIDs, reply[i]), append(p.ranks, int64(score))
	}
	p.More = len(p.GameIDs) == size
	return p, nil
}

// parseToken reads what Page.Token wrote.
func (q Query) parseToken(token string) (score int64, gameID string, err error) {
	const scoreLength = 8
	cursor, err := page.Cursor(q.String(), token)
	if err != nil {
		return 0, "", err
	}
	if len(cursor) != scoreLength+id.Length || !id.Valid(string(cursor[scoreLength:])) {
		return 0, "", page.BadToken()
	}
	return int64(binary.BigEndian.Uint64(cursor)), string(cursor[scoreLength:]), nil
}

// maxScanned bounds the candidates that one Collect looks up.
const maxScanned = 2000

// Collect pages through q from token on until size candidates proved to belong
// to it. load looks a page of candidates up and returns those that do, by id. The
// token returned leads on, and is empty at the end of the list. Where very many
// candidates do not belong, Collect gives up before the page is full: it may be
// short, even empty, and still have a token.
func Collect[T any](ctx context.Context, d *Directory, q Query, token string, size int,
	load func(ctx context.Context, candidates Page) (map[string]T, error),
) (items []T, next string, err error) {
	for scanned := 0; scanned < maxScanned; {
		candidates, err := d.Page(ctx, q, token, size+1) // One more tells whether a page follows.
		if err != nil {
			return nil, "", err
		}
		if len(candidates.GameIDs) == 0 {
			return items, "", nil
		}
		loaded, err := load(ctx, candidates)
		if err != nil {
			return nil, "", err
		}
		for i, gameID := range candidates.GameIDs {
			item, ok := loaded[gameID]
			if !ok {
				continue
			}
			if len(items) == size {
				return items, next, nil
			}
			if items = append(items, item); len(items) == size {
				next = candidates.Token(i)
			}
		}
		if !candidates.More {
			return items, "", nil
		}
		token = candidates.Token(len(candidates.GameIDs) - 1)
		scanned += len(candidates.GameIDs)
	}
	if len(items) == size {
		return items, next, nil
	}
	return items, token, nil
}
