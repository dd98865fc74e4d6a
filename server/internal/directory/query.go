package directory

import (
	"context"
	_ "embed" // For the script.
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/page"
)

//go:embed page.lua
var pageSource string

var pageScript = redis.NewScript(pageSource)

// Order is the order of a list, always descending.
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
	// must check that the variant exists.
	Variant string
	// PlayerID of one of their players, empty for any. With a player, the
	// candidates are of every status and variant, also private: the caller
	// leaves out those that the query does not ask for.
	PlayerID string
	// CallerID of the player who asks, empty for an anonymous client: which
	// games are left out depends on it.
	CallerID string
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

// Rank is the sort key of a game in the list, which is in descending order.
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

// String identifies the query; page tokens are bound to it.
func (q Query) String() string {
	return fmt.Sprintf("games %d %d %q %q %q", q.Order, q.Status, q.Variant, q.PlayerID, q.CallerID)
}

// Place is a position in a list: that of a candidate when it was read. The zero Place
// is the top.
type Place struct {
	rank   int64
	gameID string
}

// Page is a piece of a list.
type Page struct {
	// GameIDs of the candidates, in the order of the query.
	GameIDs []string
	// More reports whether candidates may follow.
	More bool

	query Query
	ranks []int64
}

// Misplaced reports whether the candidate of index i is in the wrong place, given the
// true listing of the game.
func (p Page) Misplaced(i int, truth Listing) bool { return p.ranks[i] != p.query.Rank(truth) }

// Place of the candidate of index i.
func (p Page) Place(i int) Place { return Place{p.ranks[i], p.GameIDs[i]} }

// Page returns up to size candidates that follow a place, even if its candidate has
// been removed or moved. Each must be looked up before it is shown.
func (d *Directory) Page(ctx context.Context, q Query, after Place, size int) (Page, error) {
	p := Page{query: q}
	if q.PlayerID != "" && !id.Valid(q.PlayerID) {
		return p, nil
	}
	args := []any{size}
	if after != (Place{}) {
		args = append(args, after.rank, after.gameID)
	}
	reply, err := pageScript.Run(ctx, d.reads, []string{q.key()}, args...).StringSlice()
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

// token is a page token for what follows a place. It is sealed: the place may be that
// of a game that the caller must not see.
func (d *Directory) token(ctx context.Context, q Query, after Place) (string, error) {
	cursor := binary.BigEndian.AppendUint64(nil, uint64(after.rank))
	return d.tokens.Seal(ctx, q.String(), append(cursor, after.gameID...))
}

// place reads what token wrote for the same query; an empty token is the top.
// Any other token is an *invalid.Error.
func (d *Directory) place(ctx context.Context, q Query, token string) (Place, error) {
	if token == "" {
		return Place{}, nil
	}
	cursor, err := d.tokens.Open(ctx, q.String(), token)
	if err != nil {
		return Place{}, err
	}
	return parsePlace(cursor)
}

// parsePlace reads a cursor.
func parsePlace(cursor []byte) (Place, error) {
	const rankLength = 8
	if len(cursor) != rankLength+id.Length || !id.Valid(string(cursor[rankLength:])) {
		return Place{}, page.BadToken() // Of a server of another version.
	}
	return Place{int64(binary.BigEndian.Uint64(cursor)), string(cursor[rankLength:])}, nil
}

const (
	// chunk is the least number of candidates that are looked up at a time if the
	// first ones did not fill the page. It keeps round trips few even if the page is
	// small and many candidates do not belong on it.
	chunk = 200
	// maxScanned bounds the candidates that one Collect looks up.
	maxScanned = 10 * chunk
)

// Collect pages through q from token on until it has size candidates that belong to
// it. load looks up a page of candidates and returns those that belong, by id. The
// token returned is that of the next page, and empty at the end of the list. If very
// many candidates do not belong, Collect stops before the page is full: it may be
// short, even empty, and still have a token. A token of another query is an
// *invalid.Error.
func Collect[T any](ctx context.Context, d *Directory, q Query, token string, size int,
	load func(ctx context.Context, candidates Page) (map[string]T, error),
) (items []T, next string, err error) {
	after, err := d.place(ctx, q, token)
	if err != nil {
		return nil, "", err
	}
	var last Place    // of the items
	count := size + 1 // One more tells whether a page follows.
	for scanned := 0; scanned < maxScanned; count = max(count, chunk) {
		candidates, err := d.Page(ctx, q, after, count)
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
			after = candidates.Place(i)
			item, ok := loaded[gameID]
			if !ok {
				continue
			}
			if len(items) == size {
				next, err := d.token(ctx, q, last)
				return items, next, err
			}
			items, last = append(items, item), after
		}
		if !candidates.More {
			return items, "", nil
		}
		scanned += len(candidates.GameIDs)
	}
	next, err = d.token(ctx, q, after)
	return items, next, err
}
