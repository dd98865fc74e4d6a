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

// MaxNeighbors is how many entries Rank adds above and below at most.
const MaxNeighbors = 50

// Page is a piece of a board.
type Page struct {
	// Entries in the order of their ranks.
	Entries []Entry
	// Total is how many entries the whole board has.
	Total int32
	// Next is the token of the page that follows, empty when there is none.
	Next string
}

// List returns up to size entries of a board: the first page for an empty token,
// else the one after the page whose Next it is. A token of another list is an
// *invalid.Error. The store's clock decides the week and the day of the first page; the
// pages that follow stay on its board.
//
// It is one round trip, and another one at the turn of a day.
func (b *Boards) List(ctx context.Context, variant string, window Window, token string, size int) (Page, error) {
	if token != "" {
		board, first, err := b.place(ctx, variant, window, token)
		if err != nil {
			return Page{}, err
		}
		listed, _, err := b.list(ctx, board, first, size)
		return listed, err
	}
	// The store's clock decides which board is current. The local clock guesses, so
	// that one round trip usually suffices.
	guess := boardAt(variant, window, b.now())
	listed, now, err := b.list(ctx, guess, 0, size)
	if current := boardAt(variant, window, now); err == nil && current != guess {
		listed, _, err = b.list(ctx, current, 0, size)
	}
	return listed, err
}

// list returns size entries from the given place on (counted from 0), and the
// store's time.
func (b *Boards) list(ctx context.Context, board board, first int64, size int) (Page, time.Time, error) {
	stored, err := b.boards.Page(ctx, board.stored(), first, size)
	if err != nil {
		return Page{}, time.Time{}, err
	}
	listed := Page{Total: int32(stored.Total)}
	if listed.Entries, err = entriesOf(stored.Entries, first); err != nil {
		return Page{}, time.Time{}, err
	}
	if next := first + int64(len(stored.Entries)); next > first && next < stored.Total {
		token, err := b.tokens.Seal(ctx, board.query(), board.cursor(next))
		if err != nil {
			return Page{}, time.Time{}, err
		}
		listed.Next = token
	}
	return listed, stored.Now, nil
}

// entriesOf returns entries of the store that stand on a board from the given place
// on.
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

// Rank returns a player's entry on a current board and up to neighbors entries
// (MaxNeighbors at most) directly above it and as many below, in the order of
// their ranks and without the player's own. It returns ErrNoScore for a player
// who is not on it, and an *invalid.Error for negative neighbors. It is one
// round trip, and another one at the turn of a day.
func (b *Boards) Rank(ctx context.Context, variant string, window Window, playerID string, neighbors int32) (Entry, []Entry, error) {
	if neighbors < 0 {
		return Entry{}, nil, invalid.Field("neighbors", "must not be negative")
	}
	if !id.Valid(playerID) {
		return Entry{}, nil, ErrNoScore
	}
	size := int(min(neighbors, MaxNeighbors))
	guess := boardAt(variant, window, b.now())
	rank, err := b.boards.Rank(ctx, guess.stored(), playerID, size)
	if current := boardAt(variant, window, rank.Now); err == nil && current != guess {
		rank, err = b.boards.Rank(ctx, current.stored(), playerID, size)
	}
	if err != nil {
		return Entry{}, nil, err
	}
	if !rank.Found {
		return Entry{}, nil, ErrNoScore
	}
	entries, err := entriesOf(rank.Entries, rank.First)
	if err != nil {
		return Entry{}, nil, err
	}
	own := int(rank.Place - rank.First)
	return entries[own], append(entries[:own:own], entries[own+1:]...), nil
}

// cursor is the given place (from 0) of b. It stays on b after the end of the day.
func (b board) cursor(place int64) []byte {
	return binary.AppendUvarint(binary.AppendVarint(nil, b.start), uint64(place))
}

// query identifies the list to which b's tokens belong.
func (b board) query() string { return fmt.Sprintf("scores %d %s", b.window, b.variant) }

// place reads a token of List.
func (b *Boards) place(ctx context.Context, variant string, window Window, token string) (board, int64, error) {
	cursor, err := b.tokens.Open(ctx, board{variant: variant, window: window}.query(), token)
	if err != nil {
		return board{}, 0, err
	}
	return parseCursor(variant, window, cursor)
}

// parseCursor reads what cursor wrote, which may have been another version of the
// program.
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
