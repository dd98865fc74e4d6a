package leaderboard

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/store"
)

// MaxNeighbors is the maximum number of entries that Rank returns above, and below, the
// player's own.
const MaxNeighbors = 50

// Page is a page of a board.
type Page struct {
	// Entries are sorted by rank.
	Entries []Entry
	// Total is the number of entries on the whole board.
	Total int32
	// Next is the token of the next page, or empty on the last page.
	Next string
}

// List returns a page with up to size entries of a board: the first page if token is empty, or else
// the page after the one whose Next is token. If the token is from another list, the error is an
// *invalid.Error. The store's clock determines the week or day of the first page; later pages stay
// on the same board.
//
// List takes one round trip, or two around midnight UTC.
func (b *Boards) List(ctx context.Context, variant string, window Window, token string, size int) (Page, error) {
	if token != "" {
		board, first, err := b.place(ctx, variant, window, token)
		if err != nil {
			return Page{}, err
		}
		listed, _, err := b.list(ctx, board, first, size)
		return listed, err
	}
	// The store's clock decides which board is current. Guess with the local clock, so that
	// one round trip usually suffices.
	guess := boardAt(variant, window, b.now())
	listed, now, err := b.list(ctx, guess, 0, size)
	if current := boardAt(variant, window, now); err == nil && current != guess {
		listed, _, err = b.list(ctx, current, 0, size)
	}
	return listed, err
}

// list returns up to size entries, starting at the given place (counted from 0), and the store's
// time.
func (b *Boards) list(ctx context.Context, board board, first int64, size int) (Page, time.Time, error) {
	return b.page(ctx, board.stored(), board.query(), board.cursor, first, size)
}

// page is like list but takes a board in its stored form. Its page tokens are bound to query,
// and contain what cursor returns for the first place on the next page.
func (b *Boards) page(
	ctx context.Context, board store.Board, query string, cursor func(place int64) []byte, first int64, size int,
) (Page, time.Time, error) {
	stored, err := b.Boards.Page(ctx, board, first, size)
	if err != nil {
		return Page{}, time.Time{}, err
	}
	listed := Page{Total: int32(stored.Total)}
	if listed.Entries, err = entriesOf(stored.Entries, first); err != nil {
		return Page{}, time.Time{}, err
	}
	if next := first + int64(len(stored.Entries)); next > first && next < stored.Total {
		token, err := b.tokens.Seal(ctx, query, cursor(next))
		if err != nil {
			return Page{}, time.Time{}, err
		}
		listed.Next = token
	}
	return listed, stored.Now, nil
}

// ListChallenge is like List but reads the standings of a challenge.
func (b *Boards) ListChallenge(ctx context.Context, variant, challengeID, token string, size int) (Page, error) {
	query, first := "standings "+challengeID, int64(0)
	if token != "" {
		cursor, err := b.tokens.Open(ctx, query, token)
		if err != nil {
			return Page{}, err
		}
		place, n := binary.Uvarint(cursor)
		if n <= 0 || n != len(cursor) || place > math.MaxInt32 {
			return Page{}, page.BadToken()
		}
		first = int64(place)
	}
	cursor := func(place int64) []byte { return binary.AppendUvarint(nil, uint64(place)) }
	listed, _, err := b.page(ctx, challengeBoard(variant, challengeID), query, cursor, first, size)
	return listed, err
}

// RankChallenge is like Rank but reads the standings of a challenge. It also returns the
// total number of entries.
func (b *Boards) RankChallenge(
	ctx context.Context, variant, challengeID, playerID string, neighbors int32,
) (own Entry, around []Entry, total int32, err error) {
	rank, err := b.rank(ctx, challengeBoard(variant, challengeID), playerID, neighbors)
	if err != nil {
		return Entry{}, nil, 0, err
	}
	own, around, err = ranked(rank)
	return own, around, int32(rank.Total), err
}

// ranges is the maximum number of ranges that Distribution counts.
const ranges = 12

// Distribution counts the results in the standings of a challenge, whose best score is given, by range
// of scores. Of n ranges, a score is in the one with the number score·n/(best+1), rounded down.
func (b *Boards) Distribution(ctx context.Context, variant, challengeID string, best int32) ([]int32, error) {
	n := min(ranges, int64(best)+1)
	from := make([]int32, n)
	for i := range n {
		from[i] = int32((i*(int64(best)+1) + n - 1) / n)
	}
	atLeast, err := b.Boards.AtLeast(ctx, challengeBoard(variant, challengeID), from...)
	if err != nil {
		return nil, err
	}
	counts := make([]int32, n)
	for i := range counts {
		counts[i] = int32(atLeast[i])
		if i+1 < len(atLeast) {
			counts[i] -= int32(atLeast[i+1])
		}
	}
	return counts, nil
}

// rank reads a player's place on a board, and up to neighbors entries on each side of it.
func (b *Boards) rank(ctx context.Context, board store.Board, playerID string, neighbors int32) (store.BoardRank, error) {
	if neighbors < 0 {
		return store.BoardRank{}, invalid.Field("neighbors", "must not be negative")
	}
	if !id.Valid(playerID) {
		return store.BoardRank{}, ErrNoScore
	}
	return b.Boards.Rank(ctx, board, playerID, int(min(neighbors, MaxNeighbors)))
}

// entriesOf converts consecutive stored entries of a board, starting with the one at the given
// place.
func entriesOf(stored []store.BoardEntry, first int64) ([]Entry, error) {
	entries := make([]Entry, len(stored))
	for i, e := range stored {
		entry, err := parseMember(e.Member)
		if err != nil {
			return nil, err
		}
		entry.Rank, entry.Score = int32(first)+int32(i)+1, e.Score
		entries[i] = entry
	}
	return entries, nil
}

// Rank returns a player's entry on a current board and, sorted by rank, up to neighbors
// entries (at most MaxNeighbors) directly above it and as many directly below it. It
// returns ErrNoScore if the player is not on the board, and an *invalid.Error if neighbors
// is negative. It takes one round trip, or two around midnight UTC.
func (b *Boards) Rank(ctx context.Context, variant string, window Window, playerID string, neighbors int32) (Entry, []Entry, error) {
	guess := boardAt(variant, window, b.now())
	rank, err := b.rank(ctx, guess.stored(), playerID, neighbors)
	if current := boardAt(variant, window, rank.Now); err == nil && current != guess {
		rank, err = b.rank(ctx, current.stored(), playerID, neighbors)
	}
	if err != nil {
		return Entry{}, nil, err
	}
	return ranked(rank)
}

// ranked returns the player's entry and its neighbors, or ErrNoScore if the player is not
// on the board.
func ranked(rank store.BoardRank) (own Entry, around []Entry, err error) {
	if !rank.Found {
		return Entry{}, nil, ErrNoScore
	}
	entries, err := entriesOf(rank.Entries, rank.First)
	if err != nil {
		return Entry{}, nil, err
	}
	place := int(rank.Place - rank.First)
	return entries[place], append(entries[:place:place], entries[place+1:]...), nil
}

// cursor returns the content of a page token for the given place (counted from 0). The token
// continues to refer to b after the day ends.
func (b board) cursor(place int64) []byte {
	return binary.AppendUvarint(binary.AppendVarint(nil, b.start), uint64(place))
}

// query returns the query that page tokens for b are bound to.
func (b board) query() string { return fmt.Sprintf("scores %d %s", b.window, b.variant) }

// place decodes a page token of List.
func (b *Boards) place(ctx context.Context, variant string, window Window, token string) (board, int64, error) {
	cursor, err := b.tokens.Open(ctx, board{variant: variant, window: window}.query(), token)
	if err != nil {
		return board{}, 0, err
	}
	return parseCursor(variant, window, cursor)
}

// parseCursor decodes the content of a page token, which a different version of the program
// may have issued.
func parseCursor(variant string, window Window, cursor []byte) (board, int64, error) {
	start, n := binary.Varint(cursor)
	place, m := binary.Uvarint(cursor[max(n, 0):])
	b := boardAt(variant, window, time.Unix(start*secondsPerDay, 0))
	if n <= 0 || m <= 0 || n+m != len(cursor) || place == 0 || place > math.MaxInt32 ||
		start < 0 || start > maxMillis/1000/secondsPerDay || b.start != start {
		return board{}, 0, page.BadToken()
	}
	return b, int64(place), nil
}
